package io.sessionkit.store;

/**
 * The amount of the newest history to read, always in whole turns. If both limits are
 * set, the smaller result counts.
 *
 * @param turns at most this many completed turns
 * @param items at most this many items; a turn that does not fit as a whole is left out,
 * and so are all turns before it
 */
public record Window(int turns, int items) {

	/** The whole view. */
	public static final Window ALL = new Window(Integer.MAX_VALUE, Integer.MAX_VALUE);

	/** Only the header. */
	public static final Window HEADER = new Window(0, 0);

	public Window {
		if (turns < 0 || items < 0) {
			throw new IllegalArgumentException("A window must not be negative: turns " + turns + ", items " + items
					+ ". Use 0 for none and Window.ALL for everything.");
		}
	}

	/**
	 * Returns a window of the newest turns.
	 * @param turns how many; 0 for none
	 * @return the window
	 */
	public static Window turns(int turns) {
		return new Window(turns, Integer.MAX_VALUE);
	}

	/**
	 * Returns a window of the newest items, cut at the start of a turn.
	 * @param items how many at most; 0 for none
	 * @return the window
	 */
	public static Window items(int items) {
		return new Window(Integer.MAX_VALUE, items);
	}

	/**
	 * Returns this window, limited by another.
	 * @param other another limit
	 * @return a window with the smaller of each limit
	 */
	public Window and(Window other) {
		return new Window(Math.min(this.turns, other.turns), Math.min(this.items, other.items));
	}

	/**
	 * Returns whether no item can be in this window.
	 * @return true if a limit is 0
	 */
	public boolean isEmpty() {
		return this.turns == 0 || this.items == 0;
	}

}
