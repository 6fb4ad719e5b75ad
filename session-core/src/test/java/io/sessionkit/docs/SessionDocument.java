package io.sessionkit.docs;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.ViewTotals;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.CommitResult.Outcome;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.NewItem;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import io.sessionkit.store.TurnWrite;
import io.sessionkit.store.Window;
import org.jspecify.annotations.Nullable;

/**
 * One session with all that belongs to it, and the rules of a commit. Only a copy that
 * nobody else has seen is changed: if a change is refused half-way, the copy is dropped.
 */
final class SessionDocument {

	private final SessionKey key;

	private final Instant createdAt;

	private Instant updatedAt;

	private @Nullable Duration timeToLive;

	private @Nullable String title;

	private Set<String> tags = Set.of();

	private long version;

	/** The newest sequence given. It is never given again, whatever is deleted. */
	private long lastItem;

	private String branch = Session.MAIN;

	private long head;

	private long openTurn;

	private Position position = Position.BEGINNING;

	/** By number, which is one more than the index. */
	final List<StoredTurn> turns = new ArrayList<>();

	private final List<SessionRecord> records = new ArrayList<>();

	/**
	 * A session that is not there yet: its version is 0.
	 */
	SessionDocument(SessionKey key, Instant now, @Nullable Duration timeToLive) {
		this.key = key;
		this.createdAt = now;
		this.updatedAt = now;
		this.timeToLive = timeToLive;
	}

	SessionDocument(SessionDocument other) {
		this(other.key, other.createdAt, other.timeToLive);
		this.updatedAt = other.updatedAt;
		this.title = other.title;
		this.tags = other.tags;
		this.version = other.version;
		this.lastItem = other.lastItem;
		this.branch = other.branch;
		this.head = other.head;
		this.openTurn = other.openTurn;
		this.position = other.position;
		this.turns.addAll(other.turns);
		this.records.addAll(other.records);
	}

	SessionKey key() {
		return this.key;
	}

	Instant updatedAt() {
		return this.updatedAt;
	}

	boolean isExpired(Instant now) {
		Instant expiresAt = expiresAt();
		return expiresAt != null && !expiresAt.isAfter(now);
	}

	private @Nullable Instant expiresAt() {
		return (this.timeToLive != null) ? this.updatedAt.plus(this.timeToLive) : null;
	}

	Session session(MessageCodec codec) {
		Map<String, Object> state = new HashMap<>();
		if (this.position.state() != null) {
			codec.decodeValues(this.key, this.position.state()).forEach((name, value) -> {
				if (value != null) {
					state.put(name, value);
				}
			});
		}
		ViewTotals totals = ViewTotals.NONE;
		for (StoredTurn turn : path()) {
			if (turn.number() > this.position.checkpoint()) {
				totals = totals.plusTurn(turn.turn().items(), turn.turn().tokens());
			}
		}
		return new Session(this.key, this.version, this.turns.size(), this.lastItem, this.branch, this.head,
				this.openTurn, this.position.checkpoint(), this.position.checkpointId(), totals, this.title, this.tags,
				state, this.timeToLive, this.createdAt, this.updatedAt, expiresAt());
	}

	/**
	 * The newest whole turns after the checkpoint that fit.
	 */
	List<Item> view(Window window) {
		List<Item> view = new ArrayList<>();
		List<StoredTurn> path = path();
		for (int i = path.size() - 1; i >= Math.max(0L, (long) path.size() - window.turns()); i--) {
			StoredTurn turn = path.get(i);
			if (turn.number() <= this.position.checkpoint() || view.size() + turn.items().size() > window.items()) {
				break;
			}
			view.addAll(0, turn.items());
		}
		return view;
	}

	List<Item> log(Tail tail) {
		List<Item> log = path().stream()
			.flatMap((turn) -> turn.items().stream())
			.filter((item) -> item.sequence() < tail.before())
			.toList();
		return log.subList(Math.max(0, log.size() - tail.limit()), log.size());
	}

	List<Item> items(long turn) {
		return exists(turn) ? turn(turn).items() : List.of();
	}

	List<Turn> turns(Tail tail) {
		List<Turn> found = this.turns.stream()
			.map(StoredTurn::turn)
			.filter((turn) -> turn.number() < tail.before())
			.toList();
		return found.subList(Math.max(0, found.size() - tail.limit()), found.size());
	}

	Stream<SessionRecord> records(String kind, Instant now) {
		return this.records.stream()
			.filter((record) -> record.kind().equals(kind)
					&& (record.expiresAt() == null || record.expiresAt().isAfter(now)));
	}

	@Nullable SessionRecord checkpoint(Instant now) {
		return records(SessionStore.CHECKPOINT, now)
			.filter((record) -> record.id().equals(this.position.checkpointId()))
			.findFirst()
			.orElse(null);
	}

	/**
	 * The completed turns from the beginning to the head.
	 */
	private List<StoredTurn> path() {
		List<StoredTurn> path = new ArrayList<>();
		for (long number = this.head; number > 0; number = turn(number).turn().parent()) {
			path.add(turn(number));
		}
		Collections.reverse(path);
		return path;
	}

	private boolean exists(long number) {
		return number > 0 && number <= this.turns.size();
	}

	private StoredTurn turn(long number) {
		return this.turns.get((int) number - 1);
	}

	CommitResult commit(Commit commit, MessageCodec codec, Instant now) {
		TurnWrite write = commit.turn();
		StoredTurn there = (write != null) ? find(write.turn().id()) : null;
		if (write != null && there != null && write.part() < there.parts()) {
			return new CommitResult(Outcome.REPEATED, this.version, there.number(), 0);
		}
		boolean ended = there != null && !there.turn().status().isOpen();
		if (ended || !isExpected(commit) || !commit.records().stream().allMatch((record) -> write(record, now))) {
			return new CommitResult(Outcome.CONFLICT, this.version, 0, 0);
		}
		HeaderChange change = commit.header();
		if (change.head() != null) {
			move(change.head());
		}
		long first = this.lastItem + 1;
		long number = (write != null) ? add(write, codec) : 0;
		delete(commit.delete());
		change(change, codec);
		// a turn that is not completed, and nothing else: whoever has opened the session
		// may go on
		boolean sibling = write != null && write.turn().status() != TurnStatus.COMPLETED
				&& change.equals(HeaderChange.NONE) && commit.delete().isEmpty() && commit.records().isEmpty();
		if (!sibling || this.version == 0) {
			this.version++;
		}
		this.updatedAt = now;
		return new CommitResult(Outcome.COMMITTED, this.version, number, (this.lastItem >= first) ? first : 0);
	}

	private boolean isExpected(Commit commit) {
		Session base = commit.base();
		return switch (commit.expect()) {
			case ABSENT -> this.version == 0;
			case UNCHANGED -> base != null && base.version() == this.version && base.createdAt().equals(this.createdAt);
			// only the first part of a turn creates a session
			case ANY -> this.version > 0 || (commit.turn() != null && commit.turn().part() == 0);
		};
	}

	private long add(TurnWrite write, MessageCodec codec) {
		StoredTurn turn = find(write.turn().id());
		if (turn == null) {
			turn = begin(write.turn());
			this.turns.add(turn);
		}
		if (write.part() != turn.parts()) {
			throw new IllegalArgumentException("The next part of turn '" + write.turn().id() + "' of session "
					+ this.key + " is part " + turn.parts() + ", not " + write.part() + ".");
		}
		long number = turn.number();
		List<Item> items = new ArrayList<>(turn.items());
		for (NewItem item : write.items()) {
			items.add(new Item(++this.lastItem, number, item.at(), item.tokens(),
					codec.encode(this.key, item.message())));
		}
		long parent = turn.turn().parent();
		Position position = (parent == this.head) ? this.position : positionAt(parent);
		this.turns.set((int) number - 1, turn.next(write.turn(), position).with(items));
		if (write.turn().status().isOpen()) {
			this.openTurn = number;
		}
		else if (this.openTurn == number) {
			this.openTurn = 0;
		}
		if (write.turn().status() == TurnStatus.COMPLETED) {
			moveTo(number);
		}
		return number;
	}

	private StoredTurn begin(Turn turn) {
		boolean completed = turn.status() == TurnStatus.COMPLETED;
		long parent = completed ? this.head : exists(turn.parent()) ? turn.parent() : 0;
		Turn begun = turn.stored(this.turns.size() + 1, parent, completed ? this.branch : turn.branch(), 0, 0);
		return new StoredTurn(begun, 0, List.of(), Position.BEGINNING);
	}

	private void move(HeaderChange.Head to) {
		long number = to.turn();
		if (number != 0 && (!exists(number) || turn(number).turn().status() != TurnStatus.COMPLETED)) {
			throw new IllegalArgumentException(
					"The head of session " + this.key + " must be a completed turn, not " + number + ".");
		}
		this.branch = to.branch();
		moveTo(number);
	}

	private void moveTo(long number) {
		this.position = positionAt(number);
		this.head = number;
	}

	private Position positionAt(long number) {
		return (number != 0) ? turn(number).position() : Position.BEGINNING;
	}

	private void delete(Set<Long> sequences) {
		this.turns.replaceAll((turn) -> turn
			.with(turn.items().stream().filter((item) -> !sequences.contains(item.sequence())).toList()));
		while (!sequences.isEmpty() && this.head > 0 && turn(this.head).items().isEmpty()) {
			moveTo(turn(this.head).turn().parent());
		}
	}

	private void change(HeaderChange change, MessageCodec codec) {
		if (change.title() != null) {
			this.title = change.title().isEmpty() ? null : change.title();
		}
		if (change.tags() != null) {
			this.tags = Set.copyOf(change.tags());
		}
		if (change.timeToLive() != null) {
			this.timeToLive = change.timeToLive().isZero() ? null : change.timeToLive();
		}
		if (change.state() != null) {
			this.position = this.position.state(codec.encodeValues(this.key, change.state()));
		}
		if (change.checkpoint() != null) {
			long last = change.checkpoint().turn();
			if (last != 0 && path().stream().noneMatch((turn) -> turn.number() == last)) {
				throw new IllegalArgumentException("A checkpoint of session " + this.key + " cannot cover turn " + last
						+ ": it is not on the path of the head.");
			}
			this.position = this.position.checkpoint(change.checkpoint());
		}
		if (this.head > 0) {
			this.turns.set((int) this.head - 1, turn(this.head).at(this.position));
		}
	}

	/**
	 * Writes a record, if it is as expected.
	 */
	boolean write(RecordWrite write, Instant now) {
		SessionRecord there = records(write.kind(), now).filter((record) -> record.id().equals(write.id()))
			.findFirst()
			.orElse(null);
		long revision = (there != null) ? there.revision() : 0;
		if (write.expected() != RecordWrite.ANY && write.expected() != revision) {
			return false;
		}
		this.records.removeIf((record) -> record.kind().equals(write.kind()) && record.id().equals(write.id()));
		if (write.payload() != null) {
			Instant expiresAt = (write.timeToLive() != null) ? now.plus(write.timeToLive()) : null;
			this.records.add(new SessionRecord(this.key, write.kind(), write.id(), revision + 1, write.payload(), now,
					expiresAt));
		}
		return true;
	}

	private @Nullable StoredTurn find(String id) {
		return this.turns.stream().filter((turn) -> turn.turn().id().equals(id)).findFirst().orElse(null);
	}

	/**
	 * A message, encoded.
	 */
	record Item(long sequence, long turn, Instant at, int tokens, String payload) {
	}

	/**
	 * What a move to a turn brings back: the attributes, encoded, and the checkpoint.
	 */
	record Position(@Nullable String state, long checkpoint, @Nullable String checkpointId) {

		static final Position BEGINNING = new Position(null, 0, null);

		Position state(String state) {
			return new Position(state, this.checkpoint, this.checkpointId);
		}

		Position checkpoint(HeaderChange.Checkpoint checkpoint) {
			return new Position(this.state, checkpoint.turn(), (checkpoint.turn() > 0) ? checkpoint.id() : null);
		}

	}

	/**
	 * A turn, how many parts of it were written, and the position when it was the head.
	 */
	record StoredTurn(Turn turn, int parts, List<Item> items, Position position) {

		long number() {
			return this.turn.number();
		}

		StoredTurn with(List<Item> items) {
			int tokens = items.stream().mapToInt(Item::tokens).sum();
			return new StoredTurn(
					this.turn.stored(number(), this.turn.parent(), this.turn.branch(), items.size(), tokens),
					this.parts, items, this.position);
		}

		StoredTurn at(Position position) {
			return new StoredTurn(this.turn, this.parts, this.items, position);
		}

		StoredTurn next(Turn now, Position position) {
			return new StoredTurn(new Turn(this.turn.id(), number(), this.turn.parent(), this.turn.branch(),
					now.status(), this.turn.agent(), now.model(), this.turn.startedAt(), now.endedAt(), now.rounds(),
					this.turn.tools(), now.failure(), 0, 0), this.parts + 1, this.items, position);
		}

	}

}
