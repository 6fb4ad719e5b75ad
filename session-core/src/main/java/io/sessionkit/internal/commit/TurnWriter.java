package io.sessionkit.internal.commit;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BooleanSupplier;

import io.sessionkit.Round;
import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnResult;
import io.sessionkit.TurnStatus;
import io.sessionkit.Verdict;
import io.sessionkit.internal.Attempts;
import io.sessionkit.internal.Attempts.Step;
import io.sessionkit.internal.attribute.AttributeChange;
import io.sessionkit.internal.lease.HeldReply;
import io.sessionkit.internal.lease.PauseRecord;
import io.sessionkit.internal.lease.TurnRecords;
import io.sessionkit.internal.message.MessageContent;
import io.sessionkit.internal.opening.ContinuedTurn;
import io.sessionkit.internal.opening.TurnPlace;
import io.sessionkit.internal.opening.TurnRequest;
import io.sessionkit.internal.round.Transcript;
import io.sessionkit.internal.round.TurnEnd;
import io.sessionkit.observation.CallStage;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.CommitResult.Outcome;
import io.sessionkit.store.NewItem;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.Tail;
import io.sessionkit.store.TurnView;
import io.sessionkit.store.TurnWrite;
import io.sessionkit.store.Window;
import org.jspecify.annotations.Nullable;

/**
 * Writes one turn: as history if there was no other write to the session since it was
 * opened, or beside the history.
 */
class TurnWriter {

	/**
	 * The data of a turn, or of a part of it, that is about to be written.
	 *
	 * @param end the status of the turn and, if it failed, the reason
	 * @param kept the messages to store
	 * @param rounds one entry for each answer of the model
	 * @param verdicts the verdicts of hooks
	 * @param attributes the attributes that the turn leaves; null if they are as they
	 * were
	 * @param overLimit whether the turn was sent although it was over a limit
	 */
	record Outline(TurnEnd end, List<Transcript.Entry> kept, List<Round> rounds, List<Verdict> verdicts,
			@Nullable Map<String, Object> attributes, boolean overLimit) {
	}

	/**
	 * What is written at once of a turn.
	 *
	 * @param more the records that are written with it
	 */
	private record Part(TurnWrite turn, @Nullable Map<String, Object> attributes, List<RecordWrite> more,
			boolean overLimit) {
	}

	/**
	 * What a part is written on.
	 *
	 * @param header the session as it is expected; null if there is none
	 * @param records the records that the session as it is allows
	 */
	private record Expected(@Nullable Session header, List<RecordWrite> records) {

		Commit commit(SessionKey key) {
			return (this.header != null) ? Commit.on(this.header) : Commit.first(key);
		}

		/**
		 * Returns the header as a part of an open turn has left it; null if it is not
		 * known. If others have written meanwhile, the store refuses the next write, and
		 * the header is read again.
		 */
		@Nullable Session after(TurnWrite write, CommitResult result) {
			Session before = this.header;
			if (before == null || result.outcome() != Outcome.COMMITTED) {
				return null;
			}
			Session.Position position = new Session.Position(Math.max(before.turns(), result.turn()),
					before.items() + write.items().size(), before.branch(), before.head(), result.turn(),
					before.summaryTurn(), before.summaryId(), before.totals());
			return new Session(before.key(), before.incarnation(), result.version(), position, before.details(),
					before.times());
		}

	}

	/** The answer of a store to a write to a session that is gone. */
	private static final CommitResult GONE = new CommitResult(Outcome.CONFLICT, 0, 0, 0);

	private final SessionStore store;

	private final TurnRequest request;

	private final String id;

	private final Forgetting forgetting;

	private final BooleanSupplier erased;

	/** The header as the turn sees it: the turn before it is the head. */
	private final @Nullable Session base;

	private final TurnPlace place;

	private final ShownHistory shown;

	private final TurnDraft draft;

	/** The turn as it was last stored; null if nothing of it is stored. */
	private @Nullable Turn stored;

	/** The stored items of the turn, including those of earlier calls. */
	private List<SessionItem> items;

	private int parts;

	/** The revision of the record that holds the waiting reply; 0 if there is none. */
	private long pause;

	/** True if a part was stored since the header was read. */
	private boolean moved;

	/** The history with which the session is to start anew. */
	private final GivenSeed seed;

	/**
	 * The header as the last write has left it; null if it is not known: nobody but the
	 * store knows the incarnation of a session that this turn has created.
	 */
	private @Nullable Session left;

	/**
	 * Creates the writer of a turn.
	 * @param origins the beginning of the turn
	 */
	TurnWriter(SessionStore store, TurnOrigins origins) {
		ContinuedTurn continued = origins.start().continued();
		this.store = store;
		this.request = origins.request();
		this.id = origins.start().id();
		this.forgetting = new Forgetting(store, origins);
		this.erased = origins.erased();
		this.place = origins.place();
		this.base = this.place.seen();
		this.seed = new GivenSeed(store, this.request, this.place);
		this.left = this.seed.left();
		this.shown = new ShownHistory(store, origins.key(), this.place, origins.snapshots());
		this.stored = (continued != null) ? continued.turn() : null;
		this.draft = new TurnDraft(origins, this.stored, this.shown, store.options());
		this.items = (continued != null) ? continued.items() : List.of();
		this.parts = (continued != null) ? continued.pause().parts() : 0;
		this.pause = (continued != null) ? continued.pause().revision() : 0;
	}

	/**
	 * Returns whether the turn becomes part of its session.
	 */
	boolean stores() {
		return true;
	}

	/**
	 * Returns the turn as it was last stored.
	 * @return the turn; null if nothing of it is stored
	 */
	@Nullable Turn stored() {
		return this.stored;
	}

	/**
	 * Returns all stored items of the turn, including those of earlier calls.
	 */
	List<SessionItem> items() {
		return this.items;
	}

	/**
	 * Returns the number of stored parts of the turn.
	 */
	int parts() {
		return this.parts;
	}

	/**
	 * Stores what was recorded of the turn and the reply that it holds back.
	 * @param attributes the changes that the turn has made to the attributes
	 * @param more further records to write with it
	 * @return the result; null if another writer was first
	 */
	@Nullable TurnResult hold(Outline outline, HeldReply held, AttributeChange attributes, List<RecordWrite> more) {
		List<RecordWrite> records = new ArrayList<>(more);
		RecordWrite pause = PauseRecord.write(key(), this.id, held, this.parts + 1, attributes, this.pause,
				this.store.options().codec());
		records.add(pause);
		TurnResult result = this.request.observed().observe(CallStage.COMMIT, () -> write(outline, null, records));
		if (result != null) {
			this.pause = pause.next();
		}
		return result;
	}

	/**
	 * Stores the reply that is held once more, with other changes of the attributes.
	 * @return false if another writer was first
	 */
	boolean holdAgain(HeldReply held, AttributeChange attributes) {
		RecordWrite pause = PauseRecord.write(key(), this.id, held, this.parts, attributes, this.pause,
				this.store.options().codec());
		boolean stored = this.store.put(key(), pause);
		this.pause = stored ? pause.next() : this.pause;
		return stored;
	}

	/**
	 * Stores the turn as history.
	 * @param more further records to write with it
	 * @return the result; null if another writer was first
	 */
	@Nullable TurnResult commit(Outline outline, List<RecordWrite> more) {
		this.forgetting.begin();
		return this.request.observed()
			.observe(CallStage.COMMIT, () -> write(outline, outline.attributes(), withoutPause(more)));
	}

	private List<RecordWrite> withoutPause(List<RecordWrite> more) {
		if (this.pause == 0) {
			return more;
		}
		List<RecordWrite> records = new ArrayList<>(more);
		records.add(new RecordWrite(TurnRecords.PAUSE, this.id, this.pause, null, null));
		return records;
	}

	private @Nullable TurnResult write(Outline outline, @Nullable Map<String, Object> attributes,
			List<RecordWrite> more) {
		if (isErasedUnseen() || (this.parts == 0 && outline.end().status().isOpen() && !writeSeed())) {
			return null;
		}
		Part part = new Part(draft(outline), attributes, more, outline.overLimit());
		List<RecordWrite> records = records(more);
		Session header = (this.moved && this.left == null) ? unmoved() : this.left;
		if (this.moved && header == null) {
			return null;
		}
		return Attempts.FEW.make(new Expected(header, records), (Expected expected) -> write(part, expected))
			.orElse(null);
	}

	private Step<Expected, TurnResult> write(Part part, Expected expected) {
		Commit commit = this.place.commit(expected.commit(key()), part.turn(), part.attributes(), expected.records(),
				this.store.options());
		CommitResult result = this.store.commit(living(this.forgetting.with(commit)));
		if (!result.isStored()) {
			return Step.again(moved(part, expected.header()));
		}
		this.left = expected.after(part.turn(), result);
		return isOurs(part.turn(), result) ? Step.done(written(part.turn(), result, part.overLimit())) : Step.stop();
	}

	/**
	 * Returns what a part is written on that was refused; null if it cannot be written
	 * any more.
	 */
	private @Nullable Expected moved(Part part, @Nullable Session refused) {
		return this.store.open(key(), Window.HEADER)
			.filter(this::hasSameHistory)
			.map(SessionView::session)
			.filter((now) -> !isAsBefore(now, refused))
			.map((now) -> new Expected(now, withDeletedSince(records(part.more()), now)))
			.orElse(null);
	}

	/**
	 * Writes the history that the call brings, if it is not there yet.
	 * @return whether the turn may follow; false if another writer was first
	 */
	private boolean writeSeed() {
		try {
			return this.seed.write();
		}
		finally {
			// if the store fails, some of it is there
			this.left = this.seed.left();
		}
	}

	private Commit living(Commit commit) {
		return this.request.living(commit, this.store.options());
	}

	/** If the session has not changed, a record was not as expected, and will not be. */
	private static boolean isAsBefore(Session now, @Nullable Session refused) {
		return refused != null && now.version() == refused.version() && now.incarnation().equals(refused.incarnation())
				&& now.openTurn() == refused.openTurn();
	}

	/**
	 * Stores the turn beside the history, unless the session was erased in the meantime:
	 * nothing of an erased session may reappear.
	 */
	TurnResult keepAside(Outline outline, List<RecordWrite> more) {
		return this.request.observed().observe(CallStage.COMMIT, () -> writeAside(outline, more));
	}

	private TurnResult writeAside(Outline outline, List<RecordWrite> more) {
		// the turn forgets nothing, whatever its commit was to delete
		this.forgetting.end();
		TurnWrite write = draft(outline);
		CommitResult result = isErasedUnseen() ? GONE : aside(write, records(withoutPause(more)));
		if (!result.isStored()) {
			return new TurnResult(key(), write.turn(), List.of(), outline.overLimit());
		}
		return (result.outcome() == Outcome.REPEATED) ? asItIs(write, result, outline.overLimit())
				: written(write, result, outline.overLimit());
	}

	private CommitResult aside(TurnWrite write, List<RecordWrite> records) {
		Session opened = (this.base != null || !this.moved) ? this.place.header() : this.store.find(key()).orElse(null);
		if (opened != null) {
			return besideHistory(write, opened, records);
		}
		// a session of which a part was stored is gone
		return this.moved ? GONE : this.store.commit(living(Commit.any(key()).turn(write).records(records)));
	}

	/**
	 * Returns a turn as it is stored, since the answer to a write before was lost, and
	 * this one has changed nothing.
	 */
	private TurnResult asItIs(TurnWrite write, CommitResult result, boolean overLimit) {
		TurnResult repeated = written(write, result, overLimit);
		this.stored = this.store.turn(key(), result.turn(), Set.of()).map(TurnView::turn).orElse(repeated.turn());
		return new TurnResult(key(), this.stored, repeated.items(), overLimit);
	}

	/**
	 * Returns the turn as it would be written.
	 */
	TurnResult unwritten(Outline outline) {
		return new TurnResult(key(), draft(outline).turn(), List.of(), outline.overLimit());
	}

	/**
	 * Returns the current header if what the turn is based on is still there, otherwise
	 * null.
	 */
	private @Nullable Session unmoved() {
		return this.store.open(key(), Window.HEADER)
			.filter((view) -> (this.base != null) ? hasSameHistory(view) : view.session().head() == 0)
			.map(SessionView::session)
			.orElse(null);
	}

	/**
	 * Returns whether the stored part is the one that is written. If so, only the
	 * response to the write was lost. If not, another call has continued the turn, or
	 * this one has begun it a second time, since it has not heard of its first part.
	 */
	private boolean isOurs(TurnWrite write, CommitResult result) {
		if (result.outcome() == Outcome.COMMITTED) {
			return true;
		}
		Turn there = stored(result.turn());
		if (there != null && isSame(there, write.turn()) && hasItems(write, result.turn())) {
			return true;
		}
		if (this.stored == null) {
			this.stored = there;
		}
		return false;
	}

	private static boolean isSame(Turn there, Turn ours) {
		return there.status() == ours.status() && there.rounds().equals(ours.rounds())
				&& Objects.equals(there.endedAt(), ours.endedAt());
	}

	/** Returns whether the stored turn ends with the items that are written. */
	private boolean hasItems(TurnWrite write, long turn) {
		List<SessionItem> there = this.store.items(key(), turn);
		int before = there.size() - write.items().size();
		for (int i = 0; before >= 0 && i < write.items().size(); i++) {
			if (!isSame(there.get(before + i), write.items().get(i))) {
				return false;
			}
		}
		return before >= 0;
	}

	private static boolean isSame(SessionItem there, NewItem ours) {
		return there.at().equals(ours.at())
				&& MessageContent.of(there.message()).isSameAs(MessageContent.of(ours.message()));
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
	 * Stores the turn beside the history. What the snapshot cannot refer to is stored
	 * with it as long as everything that it may quote is still there: what was deleted in
	 * the meantime must not reappear either.
	 * @return the result; none is stored if the session no longer exists
	 */
	private CommitResult besideHistory(TurnWrite write, Session opened, List<RecordWrite> all) {
		return Attempts.MANY.make(new Expected(null, all), (Expected refused) -> besideHistory(write, opened, refused))
			.orElseThrow(() -> new SessionConflictException(
					"A turn on session " + key()
							+ " that did not become history could not be kept either: others wrote in the meantime.",
					null));
	}

	private Step<Expected, CommitResult> besideHistory(TurnWrite write, Session opened, Expected refused) {
		Session now = this.store.find(key())
			.filter((session) -> session.incarnation().equals(opened.incarnation()))
			.orElse(null);
		if (now == null) {
			return Step.done(GONE);
		}
		if (isAsBefore(now, refused.header())) {
			return Step.stop();
		}
		Expected expected = new Expected(now, this.shown.withoutDeletedSince(refused.records(), now, opened));
		List<RecordWrite> records = this.shown.isOnlyShorter(now, opened) ? withDeletedSince(expected.records(), now)
				: expected.records();
		CommitResult result = this.store.commit(living(Commit.on(now).turn(write).records(records)));
		return result.isStored() ? Step.done(result) : Step.again(expected);
	}

	/**
	 * Returns the version of the session when the turn was opened; 0 if there was no
	 * session.
	 */
	long baseVersion() {
		return (this.base != null) ? this.base.version() : 0;
	}

	/**
	 * Returns the newest turn that the session had when the turn was opened; 0 for none.
	 */
	long baseTurns() {
		return (this.base != null) ? this.base.turns() : 0;
	}

	/**
	 * Returns whether code of the turn has erased a session of which the store had
	 * nothing. Of any other the store knows more: the erasure may be rolled back.
	 */
	private boolean isErasedUnseen() {
		return this.place.header() == null && this.stored == null && this.erased.getAsBoolean();
	}

	/** Returns whether the session is gone that the turn was opened on or has begun. */
	boolean isErased() {
		Session opened = this.place.header();
		if (isErasedUnseen()) {
			return true;
		}
		return (opened != null || this.stored != null) && this.store.find(key())
			.filter((session) -> opened == null || session.incarnation().equals(opened.incarnation()))
			.isEmpty();
	}

	/**
	 * Returns whether a part of the turn is stored and not its end, so that another call
	 * can continue it.
	 */
	boolean isOpen() {
		Turn known = this.stored;
		return known != null && known.status().isOpen();
	}

	/** Returns whether the store still has the turn as the open one of its session. */
	boolean isStillOpen() {
		Turn known = this.stored;
		return known != null
				&& this.store.find(key()).filter((session) -> session.openTurn() == known.number()).isPresent();
	}

	/**
	 * Returns the status that the turn has in the store, whoever has written it.
	 * @return the status; null if nothing of the turn is there
	 */
	@Nullable TurnStatus statusNow() {
		Turn known = this.stored;
		if (known == null) {
			return null;
		}
		Turn there = stored(known.number());
		return (there != null) ? there.status() : null;
	}

	/**
	 * Returns the turn as the store has it. If nothing of it is there any more, an older
	 * one is the newest up to its number.
	 */
	private @Nullable Turn stored(long number) {
		return this.store.turns(key(), new Tail(number + 1, 1))
			.stream()
			.filter((turn) -> turn.id().equals(this.id))
			.findFirst()
			.orElse(null);
	}

	private SessionKey key() {
		return this.request.key();
	}

	private boolean hasSameHistory(SessionView view) {
		return this.shown.isSame(view, (this.stored != null) ? this.stored.number() : 0, !this.forgetting.isEmpty());
	}

	/** Returns the session as it was before the turn; null if there was none. */
	@Nullable Session opened() {
		return (stores() && this.place.becomesHead()) ? this.place.header() : null;
	}

	private TurnWrite draft(Outline outline) {
		return this.draft.write(outline, this.stored, this.parts, this.seed.last());
	}

	private static <T> List<T> joined(List<T> before, List<T> now) {
		List<T> joined = new ArrayList<>(before);
		joined.addAll(now);
		return joined;
	}

	/** Adds the record of what the snapshot cannot refer to, with the first part only. */
	private List<RecordWrite> records(List<RecordWrite> more) {
		return (this.parts > 0 || !this.forgetting.isEmpty()) ? more : this.shown.withVerbatim(this.id, more);
	}

	private List<RecordWrite> withDeletedSince(List<RecordWrite> records, Session now) {
		return (this.parts > 0) ? records : this.shown.withDeletedSince(records, now);
	}

	private TurnResult result(TurnWrite write, CommitResult stored, boolean overLimit) {
		List<SessionItem> all = (stored.outcome() == Outcome.COMMITTED) ? joined(this.items, items(write, stored))
				: this.store.items(key(), stored.turn());
		int tokens = all.stream().mapToInt(SessionItem::tokens).sum();
		Turn turn = write.turn();
		return new TurnResult(key(),
				turn.stored(new Turn.Place(stored.turn(), parent(write, stored), turn.branch(), all.size(), tokens)),
				all, overLimit);
	}

	/**
	 * Returns the turn that a stored turn follows. A history that is written with it
	 * comes right before it.
	 */
	private long parent(TurnWrite write, CommitResult stored) {
		boolean seeded = write.part() == 0 && write.turn().status() == TurnStatus.COMPLETED
				&& !this.place.given().isEmpty();
		return seeded ? stored.turn() - 1 : write.turn().parent();
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
