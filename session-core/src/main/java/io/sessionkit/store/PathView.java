package io.sessionkit.store;

import java.util.List;

import io.sessionkit.Session;
import io.sessionkit.Turn;

/**
 * A session along one of its paths, as of one moment.
 *
 * @param session the header as it is; a commit is based on it
 * @param view the view as if the end of the path were the head: head, totals, summary and
 * attributes of its header are those of that place, everything else is as it is
 * @param next the turn of the active branch that follows the end of the path; 0 if the
 * end is the head, or is not on the active branch
 * @param turns the turns of the path that were asked for, oldest first; those that were
 * deleted as the oldest ones of the session may be among them, without items
 * @param records the records of the kinds that were asked for
 */
public record PathView(Session session, SessionView view, long next, List<Turn> turns, List<SessionRecord> records) {

	public PathView {
		turns = List.copyOf(turns);
		records = List.copyOf(records);
	}

	/**
	 * Returns the records of one kind.
	 * @param kind one of the kinds that were asked for
	 * @return the records, by id; none if the session has none of this kind
	 */
	public List<SessionRecord> records(String kind) {
		return this.records.stream().filter((record) -> record.kind().equals(kind)).toList();
	}

}
