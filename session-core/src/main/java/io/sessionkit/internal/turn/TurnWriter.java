package io.sessionkit.internal.turn;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.sessionkit.Checkpoint;
import io.sessionkit.Round;
import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnResult;
import io.sessionkit.Verdict;
import io.sessionkit.internal.round.Transcript;
import io.sessionkit.internal.round.TurnEnd;
import io.sessionkit.internal.snapshot.SnapshotReader;
import io.sessionkit.internal.snapshot.SnapshotTaker;
import io.sessionkit.internal.view.Checkpoints;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.CommitResult.Outcome;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.NewItem;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.Tail;
import io.sessionkit.store.TurnWrite;
import io.sessionkit.store.Window;
import org.jspecify.annotations.Nullable;

/**
 * Writes one turn: as history if nobody else wrote to the session since it was opened, or
 * beside it.
 */
final class TurnWriter {

	/** How often a commit is tried on a header that changes without its history. */
	private static final int ATTEMPTS = 5;

	/**
	 * The same for a turn that goes beside the history, where every writer is in the way.
	 */
	private static final int ATTEMPTS_BESIDE = 100;

	/**
	 * What is known of a turn when it is over.
	 *
	 * @param end what became of it
	 * @param kept the messages to keep
	 * @param rounds one entry for each answer of the model
	 * @param verdicts what hooks decided
	 * @param state the attributes that it leaves; null if they are as they were
	 * @param overLimit whether it was sent although it was over a limit
	 */
	record Outline(TurnEnd end, List<Transcript.Entry> kept, List<Round> rounds, List<Verdict> verdicts,
			@Nullable Map<String, Object> state, boolean overLimit) {
	}

	private final SessionStore store;

	private final TurnRequest request;

	private final String id;

	private final Instant startedAt;

	private final @Nullable Session base;

	private final SnapshotTaker snapshots;

	private final KeptInputs inputs;

	/** The turn as calls before this one have left it; null if this one opened it. */
	private final @Nullable Turn continued;

	/** The turn as it was stored last; null if nothing of it is stored. */
	private @Nullable Turn stored;

	/** What is stored of the turn, by calls before this one too. */
	private List<SessionItem> items;

	private int parts;

	/** The revision of the record that holds the reply that waits; 0 for none. */
	private long pause;

	/** Whether a part was stored since the header was read. */
	private boolean moved;

	/**
	 * @param base the header as it was when the turn was opened; null if there was none
	 * @param continued the turn that goes on; null for a new one
	 */
	TurnWriter(SessionStore store, TurnRequest request, String id, Instant startedAt, @Nullable Session base,
			SnapshotTaker snapshots, KeptInputs inputs, @Nullable ContinuedTurn continued) {
		this.store = store;
		this.request = request;
		this.id = id;
		this.startedAt = startedAt;
		this.base = base;
		this.snapshots = snapshots;
		this.inputs = inputs;
		this.continued = (continued != null) ? continued.turn() : null;
		this.stored = this.continued;
		this.items = (continued != null) ? continued.items() : List.of();
		this.parts = (continued != null) ? continued.pause().parts() : 0;
		this.pause = (continued != null) ? continued.pause().revision() : 0;
	}

	/**
	 * The turn as it was stored last.
	 * @return null if nothing of it is stored
	 */
	@Nullable Turn stored() {
		return this.stored;
	}

	/**
	 * All that is stored of the turn, by calls before this one too.
	 */
	List<SessionItem> items() {
		return this.items;
	}

	/**
	 * How many parts of the turn are stored.
	 */
	int parts() {
		return this.parts;
	}

	/**
	 * Stores what there is of the turn and the reply that it holds back.
	 * @param state what the turn has made of the attributes
	 * @param more records to be written with it
	 * @return null if somebody else was first
	 */
	@Nullable TurnResult hold(Outline outline, HeldReply held, StateChange state, List<RecordWrite> more) {
		List<RecordWrite> records = new ArrayList<>(more);
		RecordWrite pause = PauseRecord.write(key(), this.id, held, this.parts + 1, state, this.pause,
				this.store.options().codec());
		records.add(pause);
		TurnResult result = write(outline, HeaderChange.NONE, records);
		if (result != null) {
			this.pause = pause.next();
		}
		return result;
	}

	/**
	 * Stores the turn as history.
	 * @param more records to be written with it
	 * @return null if somebody else was first
	 */
	@Nullable TurnResult commit(Outline outline, List<RecordWrite> more) {
		return write(outline, (outline.state() != null) ? HeaderChange.NONE.state(outline.state()) : HeaderChange.NONE,
				withoutPause(more));
	}

	private List<RecordWrite> withoutPause(List<RecordWrite> more) {
		if (this.pause == 0) {
			return more;
		}
		List<RecordWrite> records = new ArrayList<>(more);
		records.add(new RecordWrite(SessionStore.PAUSE, this.id, this.pause, null, null));
		return records;
	}

	private @Nullable TurnResult write(Outline outline, HeaderChange header, List<RecordWrite> more) {
		TurnWrite write = turnWrite(outline);
		List<RecordWrite> records = records(more);
		Session expected = this.moved ? unmoved() : this.base;
		if (this.moved && expected == null) {
			return null;
		}
		for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
			Commit commit = (expected != null) ? Commit.on(expected) : Commit.first(key());
			CommitResult result = this.store.commit(commit.turn(write).header(header).records(records));
			if (result.isStored()) {
				return isOurs(write, result) ? written(write, result, outline.overLimit()) : null;
			}
			expected = this.store.open(key(), Window.HEADER)
				.filter(this::hasSameHistory)
				.map(SessionView::session)
				.orElse(null);
			if (expected == null) {
				return null;
			}
		}
		return null;
	}

	/**
	 * Stores the turn beside the history, unless the session was erased in the meantime:
	 * nothing of it may come back then.
	 */
	TurnResult keepAside(Outline outline, List<RecordWrite> more) {
		TurnWrite write = turnWrite(outline);
		List<RecordWrite> records = records(withoutPause(more));
		Session opened = (this.base != null || !this.moved) ? this.base : this.store.find(key()).orElse(null);
		CommitResult result = (opened != null) ? besideHistory(write, opened, records)
				: this.store.commit(Commit.any(key()).turn(write).records(records));
		return (result != null) ? written(write, result, outline.overLimit())
				: new TurnResult(key(), write.turn(), List.of(), outline.overLimit());
	}

	/**
	 * The header as it is now, if what the turn stands on is still there.
	 */
	private @Nullable Session unmoved() {
		return this.store.open(key(), Window.HEADER)
			.filter((view) -> (this.base != null) ? hasSameHistory(view) : view.session().head() == 0)
			.map(SessionView::session)
			.orElse(null);
	}

	/**
	 * Whether a part that was stored before is this one: its answer may have been lost,
	 * or somebody else has continued the turn.
	 */
	private boolean isOurs(TurnWrite write, CommitResult result) {
		if (result.outcome() == Outcome.COMMITTED || write.part() == 0) {
			return true;
		}
		boolean sameTurn = this.store.turns(key(), new Tail(result.turn() + 1, 1))
			.stream()
			.anyMatch((turn) -> turn.status() == write.turn().status() && turn.rounds().equals(write.turn().rounds())
					&& Objects.equals(turn.endedAt(), write.turn().endedAt()));
		if (!sameTurn) {
			return false;
		}
		List<SessionItem> there = this.store.items(key(), result.turn());
		int before = there.size() - write.items().size();
		for (int i = 0; before >= 0 && i < write.items().size(); i++) {
			SessionItem item = there.get(before + i);
			NewItem ours = write.items().get(i);
			if (!item.at().equals(ours.at()) || !item.message().equals(ours.message())) {
				return false;
			}
		}
		return before >= 0;
	}

	private TurnResult written(TurnWrite write, CommitResult stored, boolean overLimit) {
		TurnResult result = result(write, stored, overLimit);
		this.stored = result.turn();
		this.items = result.items();
		this.parts++;
		this.moved = true;
		return result;
	}

	/**
	 * What the snapshot cannot refer to is kept with the turn as long as all that it may
	 * quote is there: what was deleted meanwhile must not come back either.
	 * @return null if the session is not there any more
	 */
	private @Nullable CommitResult besideHistory(TurnWrite write, Session opened, List<RecordWrite> all) {
		List<RecordWrite> records = all;
		for (int attempt = 0; attempt < ATTEMPTS_BESIDE; attempt++) {
			Session now = this.store.find(key())
				.filter((session) -> session.incarnation().equals(opened.incarnation()))
				.orElse(null);
			if (now == null) {
				return null;
			}
			if (hasSnapshotRecord(records) && now.version() != opened.version()
					&& !new SnapshotReader(key(), this.store).isThere(this.snapshots.view())) {
				records = records.stream().filter((record) -> !isSnapshot(record)).toList();
			}
			CommitResult result = this.store.commit(Commit.on(now).turn(write).records(records));
			if (result.isStored()) {
				return result;
			}
		}
		throw new SessionConflictException("A turn on session " + key()
				+ " that did not become history could not be kept either: others wrote all the time.", null);
	}

	/**
	 * The version of the session as it was when the turn was opened; 0 if there was none.
	 */
	long baseVersion() {
		return (this.base != null) ? this.base.version() : 0;
	}

	boolean isErased() {
		Session opened = this.base;
		return opened != null && this.store.find(key())
			.filter((session) -> session.incarnation().equals(opened.incarnation()))
			.isEmpty();
	}

	private SessionKey key() {
		return this.request.key();
	}

	/**
	 * Whether only the title or the like has changed since the turn was opened, or older
	 * turns were summarized: neither must cost the turn that runs on the thread. All that
	 * takes away or adds moves the head or the totals.
	 */
	private boolean hasSameHistory(SessionView view) {
		Session opened = this.base;
		Session now = view.session();
		long ours = (this.stored != null) ? this.stored.number() : 0;
		return opened != null && now.incarnation().equals(opened.incarnation()) && now.openTurn() == ours
				&& now.head() == opened.head() && now.branch().equals(opened.branch())
				&& Attributes.areEqual(now.state(), opened.state()) && (now.checkpoint() == opened.checkpoint()
						? now.totals().equals(opened.totals()) : isOnlySummarized(view, opened));
	}

	private boolean isOnlySummarized(SessionView view, Session opened) {
		if (view.checkpoint() == null) {
			return false;
		}
		Checkpoint checkpoint = Checkpoints.read(view.checkpoint(), this.store.options().codec());
		return checkpoint.since() == opened.checkpoint()
				&& view.session().totals().equals(opened.totals().minus(checkpoint.covered()));
	}

	private static boolean hasSnapshotRecord(List<RecordWrite> records) {
		return records.stream().anyMatch(TurnWriter::isSnapshot);
	}

	private static boolean isSnapshot(RecordWrite record) {
		return record.kind().equals(SessionStore.SNAPSHOT);
	}

	private TurnWrite turnWrite(Outline outline) {
		List<NewItem> items = new ArrayList<>();
		Map<String, Object> replayed = (this.parts == 0) ? this.inputs.replayed() : Map.of();
		ReplayedInputs.keep(outline.kept(), replayed)
			.forEach((entry) -> items.add(new NewItem(entry.message(), entry.at(),
					this.store.options().tokens().applyAsInt(ReplayedInputs.shown(entry.message(), replayed)))));
		SnapshotTaker.Taken taken = this.snapshots.taken();
		List<Round> rounds = joined((this.continued != null) ? this.continued.rounds() : List.of(), outline.rounds());
		String model = rounds.isEmpty() ? null : rounds.get(rounds.size() - 1).model();
		Turn first = this.stored;
		Turn turn = new Turn(this.id, 0, (this.base != null) ? this.base.head() : 0,
				(this.base != null) ? this.base.branch() : Session.MAIN, outline.end().status(),
				(first != null) ? first.agent() : this.request.agent(),
				(model != null && !model.isEmpty()) ? model : this.request.model(), this.startedAt,
				outline.end().status().isOpen() ? null : this.store.options().now(), rounds,
				(first != null) ? first.tools() : Map.copyOf(this.request.tools()), outline.end().failure(), 0, 0,
				verdicts(outline.verdicts()),
				(first != null) ? first.snapshot() : (taken != null) ? taken.snapshot() : null,
				(first != null) ? first.inputs() : outline.kept().isEmpty() ? Map.of() : this.inputs.values());
		return new TurnWrite(turn, this.parts, items);
	}

	/**
	 * Each verdict once, whichever call of the turn it is from.
	 */
	private List<Verdict> verdicts(List<Verdict> ofCall) {
		return (this.continued != null) ? joined(this.continued.verdicts(), ofCall).stream().distinct().toList()
				: ofCall;
	}

	private static <T> List<T> joined(List<T> before, List<T> now) {
		List<T> joined = new ArrayList<>(before);
		joined.addAll(now);
		return joined;
	}

	/**
	 * What the snapshot of the turn cannot refer to; nearly always there is no such
	 * thing.
	 */
	private List<RecordWrite> records(List<RecordWrite> more) {
		SnapshotTaker.Taken taken = this.snapshots.taken();
		if (taken == null || taken.record() == null || this.parts > 0) {
			return more;
		}
		return joined(List.of(RecordWrite.create(SessionStore.SNAPSHOT, this.id, taken.record())), more);
	}

	private TurnResult result(TurnWrite write, CommitResult stored, boolean overLimit) {
		List<SessionItem> all = (stored.outcome() == Outcome.COMMITTED) ? joined(this.items, items(write, stored))
				: this.store.items(key(), stored.turn());
		int tokens = all.stream().mapToInt(SessionItem::tokens).sum();
		Turn turn = write.turn();
		return new TurnResult(key(), turn.stored(stored.turn(), turn.parent(), turn.branch(), all.size(), tokens), all,
				overLimit);
	}

	private static List<SessionItem> items(TurnWrite write, CommitResult stored) {
		List<SessionItem> items = new ArrayList<>();
		for (NewItem item : write.items()) {
			items.add(new SessionItem(stored.firstItem() + items.size(), stored.turn(), item.at(), item.tokens(),
					item.message()));
		}
		return items;
	}

}
