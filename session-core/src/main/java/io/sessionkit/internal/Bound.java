package io.sessionkit.internal;

/**
 * The smallest values of the numbers that limit what of a session is sent and kept. They
 * are the same in properties, in code and in the settings of one session. The largest is
 * {@link Integer#MAX_VALUE}, which means that there is no limit.
 */
public enum Bound {

	/** Messages of history in one call; 0 sends none. */
	LIMIT("limit", 0),

	/** Turns of history in a request; 0 sends none. */
	MAX_TURNS("trim.max-turns", 0),

	/** Messages of a request, which has at least the question. */
	MAX_MESSAGES("trim.max-messages", 1),

	/** Tokens of a request. */
	MAX_TOKENS("trim.max-tokens", 1),

	/** Turns that a session keeps. */
	RETAINED_TURNS("retention.max-turns", 1);

	private final String label;

	private final int least;

	Bound(String label, int least) {
		this.label = label;
		this.least = least;
	}

	/**
	 * Returns the smallest value that is allowed.
	 */
	public int least() {
		return this.least;
	}

	public boolean allows(int value) {
		return value >= this.least;
	}

	/**
	 * Checks a setting of one session.
	 * @throws IllegalArgumentException if the value is too small
	 */
	public void check(int value) {
		if (!allows(value)) {
			throw new IllegalArgumentException("The setting " + this.label + " of a session must be " + this.least
					+ " or more: " + value + ". Leave it out for what is configured.");
		}
	}

}
