package io.sessionkit.store;

import java.util.Set;

/**
 * A query for the parts of a session along the path that ends at a place.
 *
 * @param end the place
 * @param window how much of the view to read, as if that place were the head
 * @param turns the turns of the path to return, by number, whether or not a summary
 * covers them
 * @param kinds the kinds of the records to return
 */
public record PathQuery(Point end, Window window, Tail turns, Set<String> kinds) {

	public PathQuery {
		kinds = Set.copyOf(kinds);
	}

	/**
	 * Creates a query that reads the header alone.
	 * @param end the place at which the path ends
	 * @return the query
	 */
	public static PathQuery to(Point end) {
		return new PathQuery(end, Window.HEADER, Tail.newest(0), Set.of());
	}

	/**
	 * Returns a copy of this query that reads a part of the view.
	 * @param window how much of it
	 * @return the copy
	 */
	public PathQuery window(Window window) {
		return new PathQuery(this.end, window, this.turns, this.kinds);
	}

	/**
	 * Returns a copy of this query that reads turns of the path.
	 * @param turns the turns, by number
	 * @return the copy
	 */
	public PathQuery turns(Tail turns) {
		return new PathQuery(this.end, this.window, turns, this.kinds);
	}

	/**
	 * Returns a copy of this query that reads records of the session.
	 * @param kinds their kinds
	 * @return the copy
	 */
	public PathQuery records(String... kinds) {
		return new PathQuery(this.end, this.window, this.turns, Set.of(kinds));
	}

}
