package io.sessionkit.context;

/**
 * How much history goes with a request, in whole turns. The current turn is never cut: if
 * it alone is over a limit it is sent as a whole, and the breach is reported. Several
 * limits hold together.
 * <p>
 * Turns and messages are left out where the store reads them, so that what these limits
 * leave out is not read. A limit on tokens reads somewhat more than is sent. With pins
 * the whole view is read.
 *
 * @param maxTurns turns of history, without the current one and without a summary
 * @param maxMessages messages of the whole request, the current turn's included, without
 * system text
 * @param maxTokens tokens of the whole request, the current turn's included, without
 * system text: the sum of what was estimated when each message was written, times what
 * the provider's own counts say of the estimate
 * @param pins what stays when older messages are left out
 */
public record Trim(int maxTurns, int maxMessages, int maxTokens, Pins pins) {

	/** Everything goes. */
	public static final Trim NONE = new Trim(Integer.MAX_VALUE, Integer.MAX_VALUE);

	public Trim {
		if (maxTurns < 0 || maxMessages < 1 || maxTokens < 1) {
			throw new IllegalArgumentException("max-turns must be 0 or more, max-messages and max-tokens 1 or more: "
					+ maxTurns + ", " + maxMessages + " and " + maxTokens + ". Leave a limit out for none.");
		}
	}

	/**
	 * Limits on turns and messages, nothing pinned.
	 * @param maxTurns turns of history
	 * @param maxMessages messages of the whole request
	 */
	public Trim(int maxTurns, int maxMessages) {
		this(maxTurns, maxMessages, Integer.MAX_VALUE, Pins.NONE);
	}

	/**
	 * The newest turns of history.
	 * @param turns how many; 0 for none
	 * @return the trim
	 */
	public static Trim keepLastTurns(int turns) {
		return new Trim(turns, Integer.MAX_VALUE);
	}

	/**
	 * As much history as fits in a request of this many messages.
	 * @param messages how many, at least 1
	 * @return the trim
	 */
	public static Trim keepLastMessages(int messages) {
		return new Trim(Integer.MAX_VALUE, messages);
	}

	/**
	 * As much history as fits in a request of this many tokens.
	 * @param tokens how many, at least 1
	 * @return the trim
	 */
	public static Trim keepLastTokens(int tokens) {
		return NONE.maxTokens(tokens);
	}

	/**
	 * This trim with another limit on tokens.
	 * @param tokens how many, at least 1; {@link Integer#MAX_VALUE} for no limit
	 * @return a copy with it
	 */
	public Trim maxTokens(int tokens) {
		return new Trim(this.maxTurns, this.maxMessages, tokens, this.pins);
	}

	/**
	 * This trim with other pins.
	 * @param pinned what stays
	 * @return a copy with them
	 */
	public Trim pins(Pins pinned) {
		return new Trim(this.maxTurns, this.maxMessages, this.maxTokens, pinned);
	}

	/**
	 * Whether tokens are limited.
	 * @return false if they do not have to be counted
	 */
	public boolean limitsTokens() {
		return this.maxTokens != Integer.MAX_VALUE;
	}

}
