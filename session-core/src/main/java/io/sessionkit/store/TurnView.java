package io.sessionkit.store;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.sessionkit.SessionItem;
import io.sessionkit.Turn;

/**
 * A turn with its items, and records of its session.
 *
 * @param turn the turn
 * @param items its items, oldest first
 * @param records the records of the kinds that were asked for
 * @param attributes the attributes of the session as they were when the next turn began
 * or, at the head, as they are; empty for a turn that never was the head, such as a
 * failed one, and if the store leaves them out
 */
public record TurnView(Turn turn, List<SessionItem> items, List<SessionRecord> records,
		Map<String, Object> attributes) {

	public TurnView {
		items = List.copyOf(items);
		records = List.copyOf(records);
		attributes = Collections.unmodifiableMap(new LinkedHashMap<>(attributes));
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
