package io.sessionkit.internal.line;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.store.SessionRecord;

/**
 * The calls that stand in line on a session, as its record has them: the first works, and
 * the others wait in the order of their arrival. A call that stands in line raises its
 * beat from time to time; one whose beat stays the same for the life of a place is gone.
 *
 * @param tickets the calls, the first of which works
 */
record Line(List<Ticket> tickets) {

	/** The kind of the record. */
	static final String KIND = "line";

	/** The id of the record, of which a session has one at most. */
	static final String ID = "turn";

	private static final int VERSION = 1;

	private static final char BEFORE_BEAT = ' ';

	/**
	 * A call that stands in line.
	 *
	 * @param id a name that no other call has
	 * @param beat how often the call has shown that it is there
	 */
	record Ticket(String id, long beat) {

		private static Ticket parse(String text) {
			int end = text.lastIndexOf(BEFORE_BEAT);
			return new Ticket(text.substring(0, end), Long.parseLong(text.substring(end + 1)));
		}

		private String text() {
			return this.id + BEFORE_BEAT + this.beat;
		}

	}

	Line {
		tickets = List.copyOf(tickets);
	}

	/** Returns the line of one call, which works. */
	static Line of(String id) {
		return new Line(List.of(new Ticket(id, 0)));
	}

	/** Returns the line that a record holds. */
	static Line read(SessionRecord record, MessageCodec codec) {
		List<Ticket> tickets = new ArrayList<>();
		if (codec.decodeValues(record.key(), record.payload()).get("tickets") instanceof Collection<?> texts) {
			texts.forEach((text) -> tickets.add(Ticket.parse(String.valueOf(text))));
		}
		return new Line(tickets);
	}

	String payload(SessionKey key, MessageCodec codec) {
		return codec.encodeValues(key, Map.<String, Object>of("version", VERSION, "tickets",
				this.tickets.stream().map(Ticket::text).toList()));
	}

	boolean isEmpty() {
		return this.tickets.isEmpty();
	}

	/** Returns whether it is this call's turn to work. */
	boolean isFirst(String id) {
		return !isEmpty() && this.tickets.get(0).id().equals(id);
	}

	/**
	 * Returns how many calls stand before this one: all if it does not stand in line.
	 */
	int before(String id) {
		int before = 0;
		while (before < this.tickets.size() && !this.tickets.get(before).id().equals(id)) {
			before++;
		}
		return before;
	}

	boolean has(String id) {
		return before(id) < this.tickets.size();
	}

	Line with(String id) {
		List<Ticket> joined = new ArrayList<>(this.tickets);
		joined.add(new Ticket(id, 0));
		return new Line(joined);
	}

	Line without(Collection<String> ids) {
		return new Line(this.tickets.stream().filter((ticket) -> !ids.contains(ticket.id())).toList());
	}

	/** Returns the line with the next beat of a call. */
	Line beaten(String id) {
		return new Line(this.tickets.stream()
			.map((ticket) -> ticket.id().equals(id) ? new Ticket(id, ticket.beat() + 1) : ticket)
			.toList());
	}

}
