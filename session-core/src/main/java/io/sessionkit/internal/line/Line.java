package io.sessionkit.internal.line;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.codec.UnsupportedVersionException;
import io.sessionkit.store.SessionRecord;
import org.jspecify.annotations.Nullable;

/**
 * The calls that stand in line on a session, as its record has them: the first works, and
 * the others wait in the order of their arrival. A call that stands in line raises its
 * beat from time to time; one whose beat stays the same for its life is gone.
 *
 * @param tickets the calls, the first of which works
 * @param content the digest of what all calls in this line ask; null for the line of a
 * session, in which calls ask different things
 * @param answer the turn that answers them; null if there is none yet, and for the line
 * of a session
 */
record Line(List<Ticket> tickets, @Nullable String content, @Nullable Answer answer) {

	private static final int VERSION = 1;

	/** No line, or that of a session on which nobody works. */
	static final Line NOBODY = new Line(List.of(), null, null);

	private static final char BEFORE_BEAT = ' ';

	/** The relation of the messages of a waiting call to the turn at work. */
	enum Mark {

		/** Nothing: the call only waits. */
		NONE,

		/** They may join it. */
		OFFERED,

		/** They have joined it. */
		TAKEN

	}

	/**
	 * A call that stands in line.
	 *
	 * @param id a name that no other call has
	 * @param beat how often the call has shown that it is there
	 * @param mark what its messages have to do with the turn of the first call
	 * @param life how long it may go without a beat
	 */
	record Ticket(String id, long beat, Mark mark, Duration life) {

		private static Ticket parse(String text, List<?> offered, List<?> taken, Duration life) {
			int end = text.lastIndexOf(BEFORE_BEAT);
			String id = text.substring(0, end);
			Mark mark = taken.contains(id) ? Mark.TAKEN : offered.contains(id) ? Mark.OFFERED : Mark.NONE;
			return new Ticket(id, Long.parseLong(text.substring(end + 1)), mark, life);
		}

		private Ticket beaten() {
			return new Ticket(this.id, this.beat + 1, this.mark, this.life);
		}

		private Ticket marked(Mark other) {
			return new Ticket(this.id, this.beat, other, this.life);
		}

		/** The turn that has taken the messages has ended without being stored. */
		private Ticket givenBack() {
			return (this.mark == Mark.TAKEN) ? marked(Mark.OFFERED) : this;
		}

		private String text() {
			return this.id + BEFORE_BEAT + this.beat;
		}

	}

	Line {
		tickets = List.copyOf(tickets);
	}

	/** Returns the line of one call, which works. */
	static Line of(String id, @Nullable String content, Duration life) {
		return new Line(List.of(new Ticket(id, 0, Mark.NONE, life)), content, null);
	}

	/**
	 * Returns the line that a record holds.
	 * @throws UnsupportedVersionException if a newer version wrote it
	 */
	static Line read(SessionRecord record, MessageCodec codec) {
		Map<String, @Nullable Object> values = codec.decodeValues(record.key(), record.payload());
		if (values.get("version") instanceof Number version && version.longValue() > VERSION) {
			throw new UnsupportedVersionException("The line of calls on session " + record.key()
					+ " was written in version " + version + " of its form; this one reads up to " + VERSION
					+ ". Call it with the version that wrote it.");
		}
		Answer answer = (values.get("turn") instanceof String turn && values.get("from") instanceof Number from)
				? new Answer(turn, from.longValue()) : null;
		return new Line(tickets(values), Objects.toString(values.get("content"), null), answer);
	}

	private static List<Ticket> tickets(Map<String, @Nullable Object> values) {
		List<?> texts = list(values.get("tickets"));
		List<?> lives = list(values.get("lives"));
		List<Ticket> tickets = new ArrayList<>();
		for (int i = 0; i < texts.size(); i++) {
			tickets.add(Ticket.parse(String.valueOf(texts.get(i)), list(values.get("offered")),
					list(values.get("taken")), Duration.parse(String.valueOf(lives.get(i)))));
		}
		return tickets;
	}

	private static List<?> list(@Nullable Object value) {
		return (value instanceof List<?> list) ? list : List.of();
	}

	String payload(SessionKey key, MessageCodec codec) {
		Map<String, Object> values = new HashMap<>();
		values.put("version", VERSION);
		values.put("tickets", this.tickets.stream().map(Ticket::text).toList());
		values.put("lives", this.tickets.stream().map((ticket) -> ticket.life().toString()).toList());
		putMarked(values, "offered", Mark.OFFERED);
		putMarked(values, "taken", Mark.TAKEN);
		if (this.content != null) {
			values.put("content", this.content);
		}
		if (this.answer != null) {
			values.put("turn", this.answer.turn());
			values.put("from", this.answer.from());
		}
		return codec.encodeValues(key, values);
	}

	/** A version that does not know the marks loses them, so the calls only wait. */
	private void putMarked(Map<String, Object> values, String name, Mark mark) {
		List<String> ids = this.tickets.stream().filter((ticket) -> ticket.mark() == mark).map(Ticket::id).toList();
		if (!ids.isEmpty()) {
			values.put(name, ids);
		}
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

	/**
	 * Returns the line after the turn of a call has ended: if it answers the calls, they
	 * leave too.
	 */
	Line ended(String id) {
		return (this.answer != null) ? left() : without(List.of(id));
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

	/**
	 * Returns how long the line is there if none of its calls shows any more.
	 * @param other the life of a line without calls
	 */
	Duration life(Duration other) {
		return this.tickets.stream().map(Ticket::life).max(Comparator.naturalOrder()).orElse(other);
	}

	Line with(String id, Mark mark, Duration life) {
		List<Ticket> joined = new ArrayList<>(this.tickets);
		joined.add(new Ticket(id, 0, mark, life));
		return with(joined);
	}

	/**
	 * Returns the line without some calls. If the first one goes, the messages that its
	 * turn has taken are offered to the next.
	 */
	Line without(Collection<String> ids) {
		boolean firstGoes = !this.tickets.isEmpty() && ids.contains(this.tickets.get(0).id());
		return with(this.tickets.stream()
			.filter((ticket) -> !ids.contains(ticket.id()))
			.map((ticket) -> firstGoes ? ticket.givenBack() : ticket)
			.toList());
	}

	/** Returns whether the turn at work has the messages of this call. */
	boolean isTaken(String id) {
		return this.tickets.stream().anyMatch((ticket) -> ticket.id().equals(id) && ticket.mark() == Mark.TAKEN);
	}

	/**
	 * Returns the calls behind the first one whose messages may join its turn, or have
	 * joined it.
	 */
	List<String> offering() {
		return this.tickets.stream().skip(1).filter((ticket) -> ticket.mark() != Mark.NONE).map(Ticket::id).toList();
	}

	/** Returns the line in which the turn at work has the messages of these calls. */
	Line taken(Collection<String> ids) {
		return with(this.tickets.stream()
			.map((ticket) -> ids.contains(ticket.id()) ? ticket.marked(Mark.TAKEN) : ticket)
			.toList());
	}

	/** Returns the line in which a call that only waits has another mark. */
	Line marked(String id, Mark mark) {
		return with(this.tickets.stream()
			.map((ticket) -> (ticket.id().equals(id) && ticket.mark() == Mark.NONE) ? ticket.marked(mark) : ticket)
			.toList());
	}

	/** Returns the line with the next beat of a call. */
	Line beaten(String id) {
		return with(this.tickets.stream().map((ticket) -> ticket.id().equals(id) ? ticket.beaten() : ticket).toList());
	}

	private Line with(List<Ticket> calls) {
		return new Line(calls, this.content, this.answer);
	}

}
