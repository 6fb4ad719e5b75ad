package io.sessionkit.store;

/**
 * A part of a list.
 *
 * @param offset how many entries to skip
 * @param limit how many to return at most
 */
public record Page(int offset, int limit) {

	public Page {
		if (offset < 0 || limit < 0) {
			throw new IllegalArgumentException(
					"A page must not be negative: offset " + offset + ", limit " + limit + ". Use 0 or more.");
		}
	}

	/**
	 * Returns the page of the first entries.
	 * @param limit the number of entries, at most
	 * @return the page
	 */
	public static Page first(int limit) {
		return new Page(0, limit);
	}

	/**
	 * Returns the page after this one.
	 * @return the next page of the same size
	 */
	public Page next() {
		return new Page(this.offset + this.limit, this.limit);
	}

}
