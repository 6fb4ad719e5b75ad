package io.sessionkit.store;

/**
 * How much of the newest history to read, always whole turns. Where both limits are set
 * the smaller result counts.
 *
 * @param turns at most this many completed turns
 * @param items at most this many items; a turn that does not fit as a whole is left out,
 * and all before it
 */
public record Window(int turns, int items) {

	/** The whole view. */
	public static final Window ALL = new Window(Integer.MAX_VALUE, Integer.MAX_VALUE);

	/** The header alone. */
	public static final Window HEADER = new Window(0, 0);

	public Window {
		if (turns < 0 || items < 0) {
			throw new IllegalArgumentException("A window must not be negative: turns " + turns + ", items " + items
					+ ". Use 0 for none and Window.ALL for everything.");
		}
	}

	/**
	 * The newest turns.
	 * @param turns how many; 0 for none
	 * @return the window
	 */
	public static Window turns(int turns) {
		return new Window(turns, Integer.MAX_VALUE);
	}

	/**
	 * The newest items, cut at a turn.
	 * @param items how many at most; 0 for none
	 * @return the window
	 */
	public static Window items(int items) {
		return new Window(Integer.MAX_VALUE, items);
	}

	/**
	 * This window, not wider than the other.
	 * @param other another limit
	 * @return the smaller of each limit
	 */
	public Window and(Window other) {
		return new Window(Math.min(this.turns, other.turns), Math.min(this.items, other.items));
	}

	/**
	 * Whether no item can be in it.
	 * @return true if a limit is 0
	 */
	public boolean isEmpty() {
		return this.turns == 0 || this.items == 0;
	}

}
