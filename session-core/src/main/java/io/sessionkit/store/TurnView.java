package io.sessionkit.store;

import java.util.List;

import io.sessionkit.SessionItem;
import io.sessionkit.Turn;

/**
 * A turn with its items, and records of its session.
 *
 * @param turn the turn
 * @param items its items, oldest first
 * @param records the records of the kinds that were asked for
 */
public record TurnView(Turn turn, List<SessionItem> items, List<SessionRecord> records) {

	public TurnView {
		items = List.copyOf(items);
		records = List.copyOf(records);
	}

	/**
	 * Returns the records of one kind.
	 * @param kind one of the kinds that were asked for
	 * @return the records; none if the session has none of this kind
	 */
	public List<SessionRecord> records(String kind) {
		return this.records.stream().filter((record) -> record.kind().equals(kind)).toList();
	}

}
