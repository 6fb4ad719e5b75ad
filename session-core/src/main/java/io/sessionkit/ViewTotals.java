package io.sessionkit;

/**
 * The size of the view, kept in the session header so that it never has to be computed by
 * scanning.
 *
 * @param turns the number of completed turns of the active branch since the last summary
 * that have items
 * @param items the number of their items
 * @param tokens the estimated tokens of these items
 */
public record ViewTotals(long turns, long items, long tokens) {

	/** The totals of an empty view. */
	public static final ViewTotals NONE = new ViewTotals(0, 0, 0);

	/**
	 * Returns these totals without others.
	 * @param other the totals to subtract
	 * @return the new totals
	 */
	public ViewTotals minus(ViewTotals other) {
		return new ViewTotals(this.turns - other.turns, this.items - other.items, this.tokens - other.tokens);
	}

	/**
	 * Returns these totals with one more turn. A turn without items does not count: all
	 * of it was deleted.
	 * @param items the items of the turn
	 * @param tokens the tokens of the turn
	 * @return the new totals
	 */
	public ViewTotals plusTurn(int items, int tokens) {
		return new ViewTotals(this.turns + ((items > 0) ? 1 : 0), this.items + items, this.tokens + tokens);
	}

}
