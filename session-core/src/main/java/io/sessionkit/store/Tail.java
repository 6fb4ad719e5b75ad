package io.sessionkit.store;

/**
 * The newest entries of a numbered list, or the newest ones before a number. Unlike a
 * page, a tail does not shift when entries are appended.
 *
 * @param before only entries with a smaller number; {@link Long#MAX_VALUE} for the newest
 * @param limit how many to return at most
 */
public record Tail(long before, int limit) {

	/** All entries. */
	public static final Tail ALL = new Tail(Long.MAX_VALUE, Integer.MAX_VALUE);

	public Tail {
		if (limit < 0) {
			throw new IllegalArgumentException("A limit must not be negative: " + limit + ". Use 0 for none.");
		}
	}

	/**
	 * Returns a tail of the newest entries.
	 * @param limit how many; 0 for none
	 * @return the tail
	 */
	public static Tail newest(int limit) {
		return new Tail(Long.MAX_VALUE, limit);
	}

	/**
	 * Returns a tail of the same size before a number.
	 * @param number the oldest number seen so far
	 * @return the tail before it
	 */
	public Tail before(long number) {
		return new Tail(number, this.limit);
	}

}
