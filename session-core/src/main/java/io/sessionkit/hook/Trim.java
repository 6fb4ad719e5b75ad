package io.sessionkit.hook;

/**
 * How much history goes with a request, in whole turns. The current turn is never cut: if
 * it alone is over a limit it is sent as a whole, and the breach is reported.
 *
 * @param maxTurns turns of history, without the current one
 * @param maxMessages messages of the whole request, the current turn's included, without
 * system text
 */
public record Trim(int maxTurns, int maxMessages) {

	/** Everything goes. */
	public static final Trim NONE = new Trim(Integer.MAX_VALUE, Integer.MAX_VALUE);

	public Trim {
		if (maxTurns < 0 || maxMessages < 1) {
			throw new IllegalArgumentException("max-turns must be 0 or more and max-messages 1 or more: " + maxTurns
					+ " and " + maxMessages + ". Leave a limit out for none.");
		}
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

}
