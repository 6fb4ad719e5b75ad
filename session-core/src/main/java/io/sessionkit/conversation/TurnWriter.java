package io.sessionkit.conversation;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.sessionkit.Checkpoint;
import io.sessionkit.Round;
import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
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
import io.sessionkit.store.SessionView;
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
	TurnResult keepAside(Outline outline) {
		TurnWrite write = turnWrite(outline);
		CommitResult result = (this.base != null) ? besideHistory(write, this.base)
				: this.store.commit(Commit.any(key()).turn(write).records(records()));
		return (result != null) ? result(write, result, outline.overLimit())
				: new TurnResult(key(), write.turn(), List.of(), outline.overLimit());
	}

	/**
	 * What the snapshot cannot refer to is kept with the turn as long as all that it may
	 * quote is there: what was deleted meanwhile must not come back either.
	 * @return null if the session is not there any more
	 */
	private @Nullable CommitResult besideHistory(TurnWrite write, Session opened) {
		List<RecordWrite> records = records();
		for (int attempt = 0; attempt < ATTEMPTS_BESIDE; attempt++) {
			Session now = this.store.find(key())
				.filter((session) -> session.createdAt().equals(opened.createdAt()))
				.orElse(null);
			if (now == null) {
				return null;
			}
			if (!records.isEmpty() && now.version() != opened.version()
					&& !new SnapshotReader(key(), this.store).isThere(this.snapshots.view())) {
				records = List.of();
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
		return opened != null
				&& this.store.find(key()).filter((session) -> session.createdAt().equals(opened.createdAt())).isEmpty();
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
		return opened != null && now.createdAt().equals(opened.createdAt()) && now.head() == opened.head()
				&& now.branch().equals(opened.branch()) && Attributes.areEqual(now.state(), opened.state())
				&& (now.checkpoint() == opened.checkpoint() ? now.totals().equals(opened.totals())
						: isOnlySummarized(view, opened));
	}

	private boolean isOnlySummarized(SessionView view, Session opened) {
		if (view.checkpoint() == null) {
			return false;
		}
		Checkpoint checkpoint = Checkpoints.read(view.checkpoint(), this.store.options().codec());
		return checkpoint.since() == opened.checkpoint()
				&& view.session().totals().equals(opened.totals().minus(checkpoint.covered()));
	}

	private TurnWrite turnWrite(Outline outline) {
		List<NewItem> items = new ArrayList<>();
		ReplayedInputs.keep(outline.kept(), this.inputs.replayed())
			.forEach((entry) -> items.add(new NewItem(entry.message(), entry.at(),
					this.store.options()
						.tokens()
						.applyAsInt(ReplayedInputs.shown(entry.message(), this.inputs.replayed())))));
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
