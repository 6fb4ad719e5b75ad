package io.sessionkit.context;

import io.sessionkit.internal.Bound;

/**
 * The limits on the history in a request, in whole turns. The current turn is never cut:
 * if it alone is over a limit, it is sent as a whole and the breach is reported. Several
 * limits apply together.
 * <p>
 * The store already omits turns and messages when it reads, so history beyond these
 * limits is not read. A limit on tokens reads somewhat more than is sent. With pins the
 * whole view is read.
 *
 * @param maxTurns the largest number of turns of history, without the current one and
 * without a summary
 * @param maxMessages the largest number of messages of the whole request, including those
 * of the current turn, without system text
 * @param maxTokens the largest number of tokens of the whole request, including those of
 * the current turn, without system text. They are the sum of the estimates that were made
 * when each message was written, multiplied by a correction from the provider's own
 * counts
 * @param pins the messages that stay when older ones are left out
 */
public record Trim(int maxTurns, int maxMessages, int maxTokens, Pins pins) {

	/** Sends everything. */
	public static final Trim NONE = new Trim(Integer.MAX_VALUE, Integer.MAX_VALUE, Integer.MAX_VALUE, Pins.NONE);

	public Trim {
		if (!Bound.MAX_TURNS.allows(maxTurns) || !Bound.MAX_MESSAGES.allows(maxMessages)
				|| !Bound.MAX_TOKENS.allows(maxTokens)) {
			throw new IllegalArgumentException("max-turns must be 0 or more, max-messages and max-tokens 1 or more: "
					+ maxTurns + ", " + maxMessages + " and " + maxTokens + ". Leave a limit out for none.");
		}
	}

	/**
	 * Returns a trim that sends the newest turns of history.
	 * @param turns the number of turns; 0 for none
	 * @return the trim
	 */
	public static Trim keepLastTurns(int turns) {
		return NONE.maxTurns(turns);
	}

	/**
	 * Returns a trim that sends as much history as fits in a request of this many
	 * messages.
	 * @param messages the number of messages, at least 1
	 * @return the trim
	 */
	public static Trim keepLastMessages(int messages) {
		return NONE.maxMessages(messages);
	}

	/**
	 * Returns a trim that sends as much history as fits in a request of this many tokens.
	 * @param tokens the number of tokens, at least 1
	 * @return the trim
	 */
	public static Trim keepLastTokens(int tokens) {
		return NONE.maxTokens(tokens);
	}

	/**
	 * Returns this trim with another limit on turns.
	 * @param turns the number of turns of history; 0 for none, {@link Integer#MAX_VALUE}
	 * for no limit
	 * @return a new instance
	 */
	public Trim maxTurns(int turns) {
		return new Trim(turns, this.maxMessages, this.maxTokens, this.pins);
	}

	/**
	 * Returns this trim with another limit on messages.
	 * @param messages the number of messages of the whole request, at least 1;
	 * {@link Integer#MAX_VALUE} for no limit
	 * @return a new instance
	 */
	public Trim maxMessages(int messages) {
		return new Trim(this.maxTurns, messages, this.maxTokens, this.pins);
	}

	/**
	 * Returns this trim with another limit on tokens.
	 * @param tokens the number of tokens, at least 1; {@link Integer#MAX_VALUE} for no
	 * limit
	 * @return a new instance
	 */
	public Trim maxTokens(int tokens) {
		return new Trim(this.maxTurns, this.maxMessages, tokens, this.pins);
	}

	/**
	 * Returns this trim with other pins.
	 * @param pinned the messages that stay
	 * @return a new instance
	 */
	public Trim pins(Pins pinned) {
		return new Trim(this.maxTurns, this.maxMessages, this.maxTokens, pinned);
	}

	/**
	 * Returns whether tokens are limited.
	 * @return false if tokens do not have to be counted
	 */
	public boolean limitsTokens() {
		return this.maxTokens != Integer.MAX_VALUE;
	}

}
