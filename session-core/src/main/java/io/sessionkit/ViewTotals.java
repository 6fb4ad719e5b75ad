package io.sessionkit;

/**
 * How much the view holds, kept in the header so that nobody has to scan for it.
 *
 * @param turns completed turns of the active branch since the checkpoint
 * @param items their items
 * @param tokens the estimated tokens of these items
 */
public record ViewTotals(long turns, long items, long tokens) {

	/** An empty view. */
	public static final ViewTotals NONE = new ViewTotals(0, 0, 0);

	/**
	 * What is left of these totals.
	 * @param other what is taken out
	 * @return the new totals
	 */
	public ViewTotals minus(ViewTotals other) {
		return new ViewTotals(this.turns - other.turns, this.items - other.items, this.tokens - other.tokens);
	}

	/**
	 * These totals with a turn more.
	 * @param items the items of the turn
	 * @param tokens the tokens of the turn
	 * @return the new totals
	 */
	public ViewTotals plusTurn(int items, int tokens) {
		return new ViewTotals(this.turns + 1, this.items + items, this.tokens + tokens);
	}

}
