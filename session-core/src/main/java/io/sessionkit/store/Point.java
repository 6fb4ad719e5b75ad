package io.sessionkit.store;

/**
 * A place in the tree of turns, from which a path leads to the beginning.
 *
 * @param kind how the place is named
 * @param turn the number of a turn; 0 for the head
 */
public record Point(Kind kind, long turn) {

	/** The head of the active branch, wherever it is by then. */
	public static final Point HEAD = new Point(Kind.HEAD, 0);

	public Point {
		if (turn < 0) {
			throw new IllegalArgumentException("A turn has a number from 1, or 0 for the beginning; not " + turn + ".");
		}
	}

	/**
	 * The ways in which a place is named.
	 */
	public enum Kind {

		/** The head. */
		HEAD,

		/** A turn. */
		TURN,

		/** The turn that a turn follows. */
		PARENT

	}

	/**
	 * Returns the place of a completed turn.
	 * @param turn its number; 0 for the beginning
	 * @return the place
	 */
	public static Point at(long turn) {
		return new Point(Kind.TURN, turn);
	}

	/**
	 * Returns the place on which a turn was opened: that of the turn that it follows.
	 * @param turn the number of a turn of any status
	 * @return the place
	 */
	public static Point before(long turn) {
		return new Point(Kind.PARENT, turn);
	}

}
