package io.sessionkit.conversation;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.sessionkit.Round;
import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.Verdict;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.CommitResult.Outcome;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.NewItem;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.TurnWrite;
import org.jspecify.annotations.Nullable;

/**
 * Writes one turn: as history if nobody else wrote to the session since it was opened, or
 * beside it.
 */
final class TurnWriter {

	/** How often a commit is tried on a header that changes without its history. */
	private static final int ATTEMPTS = 5;

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

	/**
	 * @param base the header as it was when the turn was opened; null if there was none
	 */
	TurnWriter(SessionStore store, TurnRequest request, String id, Instant startedAt, @Nullable Session base,
			SnapshotTaker snapshots, KeptInputs inputs) {
		this.store = store;
		this.request = request;
		this.id = id;
		this.startedAt = startedAt;
		this.base = base;
		this.snapshots = snapshots;
		this.inputs = inputs;
	}

	/**
	 * Stores the turn as history.
	 * @return null if somebody else was first
	 */
	@Nullable TurnResult commit(Outline outline) {
		TurnWrite write = turnWrite(outline);
		HeaderChange header = (outline.state() != null) ? HeaderChange.NONE.state(outline.state()) : HeaderChange.NONE;
		Session expected = this.base;
		for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
			Commit commit = (expected != null) ? Commit.on(expected) : Commit.first(key());
			CommitResult result = this.store.commit(commit.turn(write).header(header).records(records()));
			if (result.isStored()) {
				return result(write, result, outline.overLimit());
			}
			expected = this.store.find(key()).filter(this::hasSameHistory).orElse(null);
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
	TurnResult keepAside(Outline outline) {
		TurnWrite write = turnWrite(outline);
		if (isErased()) {
			return new TurnResult(key(), write.turn(), List.of(), outline.overLimit());
		}
		CommitResult whole = commitWithRecords(write);
		return result(write, (whole != null) ? whole : this.store.commit(Commit.any(key()).turn(write)),
				outline.overLimit());
	}

	/**
	 * Keeps what the snapshot cannot refer to with the turn, as long as all that it may
	 * quote is there: what was deleted meanwhile must not come back.
	 * @return null if it is not to be kept, or there is no such thing
	 */
	private @Nullable CommitResult commitWithRecords(TurnWrite write) {
		List<RecordWrite> records = records();
		if (records.isEmpty()) {
			return null;
		}
		if (this.base == null) {
			return this.store.commit(Commit.any(key()).turn(write).records(records));
		}
		for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
			Session now = this.store.find(key()).orElse(null);
			if (now == null || (now.version() != this.base.version()
					&& !new SnapshotReader(key(), this.store).isThere(this.snapshots.view()))) {
				return null;
			}
			CommitResult result = this.store.commit(Commit.on(now).turn(write).records(records));
			if (result.isStored()) {
				return result;
			}
		}
		return null;
	}

	/**
	 * The version of the session as it was when the turn was opened; 0 if there was none.
	 */
	long baseVersion() {
		return (this.base != null) ? this.base.version() : 0;
	}

	boolean isErased() {
		Session opened = this.base;
		return opened != null
				&& this.store.find(key()).filter((session) -> session.createdAt().equals(opened.createdAt())).isEmpty();
	}

	private SessionKey key() {
		return this.request.key();
	}

	/**
	 * Whether only the title or the like has changed since the turn was opened: renaming
	 * a thread must not cost the turn that runs on it. All that takes away or adds moves
	 * the head or the totals.
	 */
	private boolean hasSameHistory(Session now) {
		Session opened = this.base;
		return opened != null && now.createdAt().equals(opened.createdAt()) && now.head() == opened.head()
				&& now.branch().equals(opened.branch()) && now.checkpoint() == opened.checkpoint()
				&& now.totals().equals(opened.totals()) && Attributes.areEqual(now.state(), opened.state());
	}

	private TurnWrite turnWrite(Outline outline) {
		List<NewItem> items = new ArrayList<>();
		ReplayedInputs.keep(outline.kept(), this.inputs.replayed())
			.forEach((entry) -> items.add(new NewItem(entry.message(), entry.at(),
					this.store.options().tokens().applyAsInt(entry.message()))));
		SnapshotTaker.Taken taken = this.snapshots.taken();
		List<Round> rounds = outline.rounds();
		String model = rounds.isEmpty() ? null : rounds.get(rounds.size() - 1).model();
		Turn turn = new Turn(this.id, 0, (this.base != null) ? this.base.head() : 0,
				(this.base != null) ? this.base.branch() : Session.MAIN, outline.end().status(), this.request.agent(),
				(model != null && !model.isEmpty()) ? model : this.request.model(), this.startedAt,
				this.store.options().now(), rounds, Map.copyOf(this.request.tools()), outline.end().failure(), 0, 0,
				outline.verdicts(), (taken != null) ? taken.snapshot() : null,
				outline.kept().isEmpty() ? Map.of() : this.inputs.values());
		return new TurnWrite(turn, 0, items);
	}

	/**
	 * What the snapshot of the turn cannot refer to; nearly always there is no such
	 * thing.
	 */
	private List<RecordWrite> records() {
		SnapshotTaker.Taken taken = this.snapshots.taken();
		return (taken != null && taken.record() != null)
				? List.of(RecordWrite.create(SessionStore.SNAPSHOT, this.id, taken.record())) : List.of();
	}

	private TurnResult result(TurnWrite write, CommitResult stored, boolean overLimit) {
		List<SessionItem> items = (stored.outcome() == Outcome.COMMITTED) ? items(write, stored)
				: this.store.items(key(), stored.turn());
		int tokens = items.stream().mapToInt(SessionItem::tokens).sum();
		Turn turn = write.turn();
		return new TurnResult(key(), turn.stored(stored.turn(), turn.parent(), turn.branch(), items.size(), tokens),
				items, overLimit);
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
