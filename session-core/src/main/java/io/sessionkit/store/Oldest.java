package io.sessionkit.store;

/**
 * The oldest turns of a session, which a commit deletes: all their items, and what their
 * first write has fixed, such as kept parameters. Their numbers stay, and so do their
 * status and their usage. On the path of the head only the last one of them stays, and
 * what comes before it is the turn up to which the newest summary there covers, or the
 * beginning.
 *
 * @param from the first of these turns; all before it have no items any more
 * @param before the first turn that stays; not after the head, and not after the open
 * turn
 */
public record Oldest(long from, long before) {

	public Oldest {
		if (from < 1 || before <= from) {
			throw new IllegalArgumentException(
					"The oldest turns must be a range of turn numbers from 1 on; this one begins with " + from
							+ " and ends before " + before + ".");
		}
	}

}
