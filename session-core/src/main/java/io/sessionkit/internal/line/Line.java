package io.sessionkit.internal.line;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.store.SessionRecord;
import org.jspecify.annotations.Nullable;

/**
 * The calls that stand in line on a session, as its record has them: the first works, and
 * the others wait in the order of their arrival. A call that stands in line raises its
 * beat from time to time; one whose beat stays the same for the life of a place is gone.
 *
 * @param tickets the calls, the first of which works
 * @param content the digest of what all calls in this line ask; null for the line of a
 * session, in which calls ask different things
 * @param answer the turn that answers them; null if there is none yet, and for the line
 * of a session
 */
record Line(List<Ticket> tickets, @Nullable String content, @Nullable Answer answer) {

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
	static Line of(String id, @Nullable String content) {
		return new Line(List.of(new Ticket(id, 0)), content, null);
	}

	/** Returns the line that a record holds. */
	static Line read(SessionRecord record, MessageCodec codec) {
		Map<String, @Nullable Object> values = codec.decodeValues(record.key(), record.payload());
		List<Ticket> tickets = new ArrayList<>();
		if (values.get("tickets") instanceof Collection<?> texts) {
			texts.forEach((text) -> tickets.add(Ticket.parse(String.valueOf(text))));
		}
		Answer answer = (values.get("turn") instanceof String turn && values.get("from") instanceof Number from)
				? new Answer(turn, from.longValue()) : null;
		return new Line(tickets, Objects.toString(values.get("content"), null), answer);
	}

	String payload(SessionKey key, MessageCodec codec) {
		Map<String, Object> values = new HashMap<>();
		values.put("version", VERSION);
		values.put("tickets", this.tickets.stream().map(Ticket::text).toList());
		if (this.content != null) {
			values.put("content", this.content);
		}
		if (this.answer != null) {
			values.put("turn", this.answer.turn());
			values.put("from", this.answer.from());
		}
		return codec.encodeValues(key, values);
	}

	/** Returns whether nothing is left of the line. */
	boolean isEmpty() {
		return this.tickets.isEmpty() && this.answer == null;
	}

	/** Returns whether the turn that answers its calls is stored, and no call works. */
	boolean isAnswered() {
		return this.tickets.isEmpty() && this.answer != null;
	}

	/** Returns the line with the turn that answers its calls. */
	Line answered(Answer turn) {
		return new Line(this.tickets, this.content, turn);
	}

	/** Returns the line without any call. */
	Line left() {
		return new Line(List.of(), this.content, this.answer);
	}

	/** Returns whether it is this call's turn to work. */
	boolean isFirst(String id) {
		return !this.tickets.isEmpty() && this.tickets.get(0).id().equals(id);
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
		return with(joined);
	}

	Line without(Collection<String> ids) {
		return with(this.tickets.stream().filter((ticket) -> !ids.contains(ticket.id())).toList());
	}

	/** Returns the line with the next beat of a call. */
	Line beaten(String id) {
		return with(this.tickets.stream()
			.map((ticket) -> ticket.id().equals(id) ? new Ticket(id, ticket.beat() + 1) : ticket)
			.toList());
	}

	private Line with(List<Ticket> calls) {
		return new Line(calls, this.content, this.answer);
	}

}
