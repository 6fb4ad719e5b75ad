package io.sessionkit.internal.commit;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.function.Supplier;

import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionException;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionLostException;
import io.sessionkit.Turn;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.TurnResult;
import io.sessionkit.TurnStatus;
import io.sessionkit.Verdict;
import io.sessionkit.hook.HookFailedException;
import io.sessionkit.hook.SessionRefusedException;
import io.sessionkit.internal.Attempts;
import io.sessionkit.internal.Attempts.Step;
import io.sessionkit.internal.KeptMessage;
import io.sessionkit.internal.Thrown;
import io.sessionkit.internal.attribute.TurnAttributes;
import io.sessionkit.internal.lease.HeldReply;
import io.sessionkit.internal.lease.ToolLease;
import io.sessionkit.internal.line.Admission;
import io.sessionkit.internal.retention.Retentions;
import io.sessionkit.internal.round.HookRun;
import io.sessionkit.internal.round.Transcript;
import io.sessionkit.internal.round.TurnEnd;
import io.sessionkit.internal.round.TurnEvents;
import io.sessionkit.internal.snapshot.SnapshotTaker;
import io.sessionkit.store.CommitFailedException;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreUnavailableException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.model.ChatResponse;

/**
 * Stores one turn and its parts: runs the hooks on what is to be stored, has it written
 * and notifies the listeners. Parts are stored under the lock of the turn, and its end by
 * the one thread that has closed it.
 */
public final class TurnKeeper {

	private static final Log logger = LogFactory.getLog(TurnKeeper.class);

	private final SessionStore store;

	private final SessionKey key;

	private final HookRun hooks;

	private final TurnEvents events;

	private final TurnAttributes attributes;

	private final TurnWriter writer;

	private final FailedEnd failedEnd;

	private final Retentions retentions;

	private final SnapshotTaker snapshots;

	private final ToolLease lease;

	/** Null if the call does not stand in line. */
	private final @Nullable Admission admission;

	private final List<Supplier<List<RecordWrite>>> alongside = new CopyOnWriteArrayList<>();

	/** The number of messages after the input that parts of the turn have stored. */
	private int storedEntries;

	/** The messages that hooks have left to be stored; null until the hooks have run. */
	private volatile @Nullable List<Transcript.Entry> kept;

	/** The store had this of the turn when it was last to be kept aside. */
	private volatile TurnEvents.Left aside = TurnEvents.Left.UNKNOWN;

	/**
	 * Creates the keeper of a turn.
	 * @param origins the beginning of the turn
	 * @param lease the lease under which the tools of the turn run
	 * @param admission the admission of the call, which leaves the line with the turn;
	 * null if the call does not stand in line
	 */
	public TurnKeeper(SessionStore store, TurnOrigins origins, HookRun hooks, TurnEvents events,
			TurnAttributes attributes, Retentions retentions, ToolLease lease, @Nullable Admission admission) {
		this.store = store;
		this.key = origins.key();
		this.hooks = hooks;
		this.events = events;
		this.attributes = attributes;
		this.writer = origins.request().isStored() ? new TurnWriter(store, origins) : new UnstoredTurn(store, origins);
		this.failedEnd = new FailedEnd(this.key, this.writer);
		this.retentions = retentions;
		this.snapshots = origins.snapshots();
		this.lease = lease;
		this.admission = admission;
	}

	/**
	 * Stores the turn as history, or as failed if there is no answer. If there is none
	 * and a part of the turn is stored, the turn stays as it is, so that it can be
	 * continued.
	 */
	public TurnResult complete(RecordedTurn recorded, @Nullable ChatResponse answer) {
		if (!recorded.answered() && isOpen()) {
			return stillOpen(recorded);
		}
		try {
			askHooks((answer != null) ? recorded : recorded.withoutReply(),
					recorded.answered() ? TurnStatus.COMPLETED : TurnStatus.FAILED);
		}
		catch (SessionRefusedException | HookFailedException ex) {
			fail(recorded, ex, false);
			throw ex;
		}
		TurnResult result = recorded.answered() ? commitOrThrow(recorded, answer) : unanswered(recorded, answer);
		if (result == null) {
			throw notStored(recorded, answer);
		}
		return result;
	}

	/**
	 * Runs the hooks on a part of the turn that is about to be stored. Another thread may
	 * end the turn meanwhile, and runs them then on what it stores.
	 * @param status the status of the turn until it continues
	 * @return the messages that the hooks have left
	 * @throws SessionRefusedException if a hook refuses the part
	 * @throws HookFailedException if a hook fails on it
	 */
	List<Transcript.Entry> askAboutPart(RecordedTurn recorded, TurnStatus status) {
		try {
			return leftByHooks(recorded, status);
		}
		catch (RuntimeException | Error ex) {
			// nor is it kept when the turn ends with that
			this.kept = recorded.input();
			throw ex;
		}
	}

	/**
	 * Stores what was recorded of the turn and the reply that it holds back.
	 * @param left the messages that hooks have left of it
	 * @param status the status of the turn until it continues
	 * @param more further records to write with it
	 * @throws SessionConflictException if another writer was first
	 * @throws SessionLostException if the session was erased or has expired
	 */
	TurnResult hold(RecordedTurn recorded, List<Transcript.Entry> left, HeldReply held, TurnStatus status,
			List<RecordWrite> more) {
		this.kept = left;
		TurnWriter.Outline outline = new TurnWriter.Outline(new TurnEnd(status, null), left, recorded.rounds(),
				this.hooks.verdicts(), null, recorded.overLimit());
		TurnResult result = hold(outline, held, joined(more));
		if (result == null) {
			throw moved(null);
		}
		this.kept = null;
		this.storedEntries += recorded.said().size();
		return result;
	}

	private @Nullable TurnResult hold(TurnWriter.Outline outline, HeldReply held, List<RecordWrite> records) {
		Admission known = this.admission;
		if (known == null) {
			return this.writer.hold(outline, held, this.attributes.change(), records);
		}
		return inLine(known, records, known::answering,
				(all) -> this.writer.hold(outline, held, this.attributes.change(), all), known::answered);
	}

	/**
	 * Stores with the reply that is held what the turn has changed of the attributes.
	 * @throws SessionConflictException if another writer was first
	 * @throws SessionLostException if the session was erased or has expired
	 */
	void storeAttributes(HeldReply held) {
		if (!this.writer.holdAgain(held, this.attributes.change())) {
			throw moved(null);
		}
	}

	/**
	 * Returns the turn as it was last stored; null if nothing of it is stored.
	 */
	public @Nullable Turn stored() {
		return this.writer.stored();
	}

	/**
	 * Returns how many of the messages that were recorded after the input are stored.
	 */
	public int storedEntries() {
		return this.storedEntries;
	}

	/**
	 * Returns all stored items of the turn.
	 */
	public List<SessionItem> items() {
		return this.writer.items();
	}

	/**
	 * Registers records to write together with the next part of the turn, in addition to
	 * others.
	 */
	public void alongside(Supplier<List<RecordWrite>> records) {
		this.alongside.add(records);
	}

	private List<RecordWrite> joined(List<RecordWrite> more) {
		List<RecordWrite> all = new ArrayList<>();
		this.alongside.forEach((records) -> all.addAll(records.get()));
		all.addAll(more);
		return all;
	}

	/**
	 * Keeps the turn as refused if a refusal ended it, otherwise as failed. A turn of
	 * which a part is stored stays as it is, so that it can be continued, unless it was
	 * refused.
	 * @param cause the cause of the end; errors that occur here are added to it as
	 * suppressed
	 * @param ends whether the turn ends although a part of it is stored
	 */
	public void fail(RecordedTurn recorded, Throwable cause, boolean ends) {
		TurnEnd end = this.hooks.end(cause);
		if (stored() != null && !ends && (end == null || end.status() != TurnStatus.REFUSED)) {
			sayIfKept(cause, tellOpen((end != null) ? end : TurnEnd.failed(cause), isOthers(cause)));
			return;
		}
		try {
			keepAside(recorded, (end != null) ? end : TurnEnd.failed(cause));
		}
		catch (RuntimeException ex) {
			cause.addSuppressed(ex);
			sayIfKept(cause, this.aside);
		}
	}

	/**
	 * Keeps the turn of a caller that has disconnected. A turn of which a part is stored
	 * stays as it is.
	 */
	public void cancel(RecordedTurn recorded) {
		if (stored() != null) {
			tellOpen(TurnEnd.CANCELLED, this.lease.isLost());
			return;
		}
		keepAside(recorded, TurnEnd.CANCELLED);
	}

	/**
	 * Notifies the listeners that the call has failed. The turn stays as it is stored.
	 * @param cause the cause of the end
	 */
	public void abandon(Throwable cause) {
		tellOpen(TurnEnd.failed(cause), false);
	}

	/**
	 * Ends a turn that waits, because the caller has given it up.
	 */
	public TurnResult giveUp(RecordedTurn recorded) {
		return keepAside(recorded, TurnEnd.CANCELLED);
	}

	/**
	 * Stores the turn of a caller that disconnected when the answer was complete.
	 * @return whether the turn is history now
	 */
	public boolean completeUnseen(RecordedTurn recorded) {
		try {
			askHooks(recorded, TurnStatus.COMPLETED);
		}
		catch (SessionRefusedException | HookFailedException ex) {
			return false;
		}
		return becomeHistory(recorded) != null;
	}

	private @Nullable TurnResult commitOrThrow(RecordedTurn recorded, @Nullable ChatResponse answer) {
		try {
			return becomeHistory(recorded);
		}
		catch (RuntimeException ex) {
			throw uncommitted(answer, ex);
		}
	}

	private SessionException uncommitted(@Nullable ChatResponse answer, RuntimeException cause) {
		// a cancelled turn has no answer: whoever cancels it would take a conflict for a
		// change by others, and wait for them again
		if (answer != null && cause instanceof SessionConflictException) {
			SessionConflictException conflict = this.failedEnd.outwaited(answer, cause);
			TurnEvents.Left left = isOpen() ? leftNow() : TurnEvents.Left.NOTHING;
			tell(TurnEnd.failed(conflict), left);
			sayIfKept(conflict, left);
			return conflict;
		}
		CommitFailedException failure = this.failedEnd.commitFailed(answer, cause);
		TurnEvents.Left left = this.failedEnd.after(failure.isUnwritten());
		tell(TurnEnd.failed(CommitFailedException.class.getName()), left);
		sayIfKept(failure, left);
		return failure;
	}

	/**
	 * Leaves a turn open that has no answer, as if the model had failed. The caller gets
	 * no exception, so the log says why.
	 */
	private TurnResult stillOpen(RecordedTurn recorded) {
		warnOfNoReply("A part of the turn is stored, so it is still open; " + FailedEnd.CONTINUE);
		tellOpen(TurnEnd.failed(Turn.NO_REPLY), false);
		return new TurnResult(this.key, Objects.requireNonNull(stored()), List.of(), recorded.overLimit());
	}

	/**
	 * Keeps a turn without an answer. The caller gets no exception, so the log says why.
	 */
	private TurnResult unanswered(RecordedTurn recorded, @Nullable ChatResponse answer) {
		warnOfNoReply("The turn is kept as failed ('" + Turn.NO_REPLY + "'), so later calls do not see it.");
		try {
			return keepAside(recorded, TurnEnd.failed(Turn.NO_REPLY));
		}
		catch (SessionConflictException ex) {
			throw (answer != null) ? this.failedEnd.outwaited(answer, ex) : ex;
		}
		catch (RuntimeException ex) {
			throw this.failedEnd.commitFailed(answer, ex);
		}
	}

	private void warnOfNoReply(String kept) {
		logger
			.warn("A turn on session " + this.key + " has no answer: the reply of the model, as hooks have left it, has"
					+ " neither text nor tool calls nor media. The caller gets it as it is. " + kept);
	}

	/**
	 * Returns whether a part of the turn is stored and not its end, so that another call
	 * can continue it.
	 */
	public boolean isOpen() {
		return this.writer.isOpen();
	}

	private SessionException notStored(RecordedTurn recorded, @Nullable ChatResponse answer) {
		SessionException why = moved(answer);
		fail(recorded, why, false);
		return why;
	}

	private SessionException moved(@Nullable ChatResponse answer) {
		return this.failedEnd.moved(answer, this.admission);
	}

	/**
	 * Returns the exception for a session that is gone.
	 * @return the exception; null if the session is there
	 */
	public @Nullable SessionLostException lost(@Nullable ChatResponse answer) {
		return this.failedEnd.lost(answer);
	}

	/**
	 * Stores the turn as history.
	 * @return the result; null if another writer was first
	 */
	private @Nullable TurnResult becomeHistory(RecordedTurn recorded) {
		List<RecordWrite> records = joined(List.of());
		RecordWrite givingBack = this.lease.givingBack();
		if (givingBack != null) {
			records.add(givingBack);
		}
		TurnResult result = writeWithLines(outline(recorded, TurnEnd.COMPLETED), records);
		if (result != null) {
			if (givingBack != null) {
				this.lease.givenBack();
			}
			tellCompleted(result);
			this.retentions.after(this.writer.opened(), result.turn().number(), this.snapshots::oldest);
		}
		return result;
	}

	private void tellCompleted(TurnResult result) {
		if (this.writer.stores()) {
			this.events.committed(result.turn());
		}
		else {
			this.events.answered();
		}
	}

	private @Nullable TurnResult writeWithLines(TurnWriter.Outline outline, List<RecordWrite> records) {
		Admission known = this.admission;
		if (known == null) {
			return this.writer.commit(outline, records);
		}
		return inLine(known, records, known::leaving, (all) -> this.writer.commit(outline, all), known::left);
	}

	/**
	 * Writes with what it says of the lines. Calls that join a line meanwhile are no
	 * reason to give up.
	 */
	private static @Nullable TurnResult inLine(Admission admission, List<RecordWrite> records,
			Supplier<List<RecordWrite>> ofLines, Function<List<RecordWrite>, @Nullable TurnResult> write,
			Runnable written) {
		return Attempts.SOME.make(admission, (Admission known) -> {
			List<RecordWrite> all = new ArrayList<>(records);
			all.addAll(ofLines.get());
			TurnResult result = write.apply(all);
			if (result == null) {
				return known.hasChanged() ? Step.again(known) : Step.<Admission, TurnResult>stop();
			}
			written.run();
			return Step.done(result);
		}).orElse(null);
	}

	private TurnResult keepAside(RecordedTurn recorded, TurnEnd end) {
		if (this.kept == null) {
			try {
				askHooks(recorded, end.status());
			}
			catch (SessionRefusedException | HookFailedException ex) {
				// the verdict says so, and only the input is kept
			}
		}
		TurnEvents.Left left = TurnEvents.Left.UNKNOWN;
		try {
			TurnResult result = this.writer.keepAside(outline(recorded, end), joined(List.of()));
			left = TurnEvents.Left.of(isKept(result) ? result.turn().status() : null);
			return result;
		}
		catch (SessionConflictException ex) {
			// a part of it may be stored, and stays as it is
			left = leftNow();
			throw ex;
		}
		catch (StoreUnavailableException ex) {
			left = this.failedEnd.after(ex.isUnwritten());
			throw ex;
		}
		finally {
			this.aside = left;
			tell(end, left);
		}
	}

	/** Nothing is kept of a turn that is not stored, or whose session was erased. */
	private static boolean isKept(TurnResult result) {
		return result.turn().number() != 0;
	}

	/**
	 * Runs the hooks on what is to be stored, once for each part.
	 * @param status the status with which the turn is stored
	 */
	private void askHooks(RecordedTurn recorded, TurnStatus status) {
		this.kept = recorded.input();
		this.kept = leftByHooks(recorded, status);
	}

	private List<Transcript.Entry> leftByHooks(RecordedTurn recorded, TurnStatus status) {
		List<Transcript.Entry> all = recorded.all();
		return (this.hooks.isEmpty() || all.isEmpty()) ? all
				: timed(this.hooks.beforeSave(recorded.part(this.writer.parts() + 1, status)), all);
	}

	/**
	 * Returns the messages with the times that they have. A new message gets the time of
	 * the one before it.
	 */
	private static List<Transcript.Entry> timed(List<Message> messages, List<Transcript.Entry> known) {
		List<Transcript.Entry> timed = new ArrayList<>();
		Transcript.Entry last = known.get(0);
		for (Message message : messages) {
			for (Transcript.Entry entry : known) {
				last = (entry.message() == message) ? entry : last;
			}
			timed.add(new Transcript.Entry(message, last.at()));
		}
		return timed;
	}

	private TurnWriter.Outline outline(RecordedTurn recorded, TurnEnd end) {
		Map<String, Object> written = this.attributes.end();
		return new TurnWriter.Outline(end, (this.kept != null) ? this.kept : List.of(), recorded.rounds(),
				this.hooks.verdicts(), (end == TurnEnd.COMPLETED) ? written : null, recorded.overLimit());
	}

	/** Returns whether others may have ended the turn, or work on it, or erased it. */
	private boolean isOthers(Throwable cause) {
		Throwable thrown = Thrown.cause(cause);
		return this.lease.isLost() || thrown instanceof TurnInProgressException
				|| thrown instanceof SessionConflictException || thrown instanceof SessionLostException;
	}

	/**
	 * Tells of a call that has ended and has left its turn as it was stored before.
	 * @param others whether others may have stored it since
	 * @return what the store has of it
	 */
	private TurnEvents.Left tellOpen(TurnEnd end, boolean others) {
		Turn open = stored();
		boolean own = open == null || end.status() == TurnStatus.INCOMPLETE;
		TurnEvents.Left left = (!own && others) ? leftNow()
				: TurnEvents.Left.of((own || open == null) ? end.status() : open.status());
		tell(end, left);
		return left;
	}

	/**
	 * Says of an exception, whoever has thrown it, that the message of its call is kept,
	 * if its turn is open, or if others have made it history. In a transaction of the
	 * caller, which the exception may roll back, nobody knows.
	 */
	private void sayIfKept(Throwable cause, TurnEvents.Left left) {
		TurnStatus status = left.status();
		boolean kept = status != null && (status.isOpen() || status == TurnStatus.COMPLETED);
		if (kept && !this.store.mayRollBack()) {
			KeptMessage.with(cause, this.key);
		}
	}

	private TurnEvents.Left leftNow() {
		try {
			return TurnEvents.Left.of(this.writer.statusNow());
		}
		catch (RuntimeException ex) {
			return TurnEvents.Left.UNKNOWN; // the store may be why the call has lost the
											// turn
		}
	}

	/**
	 * Tells of the end of a call.
	 * @param left what the store has of its turn
	 */
	private void tell(TurnEnd end, TurnEvents.Left left) {
		Verdict refusal = this.hooks.refusal();
		if (end.status() == TurnStatus.REFUSED && refusal != null) {
			this.events.refused(refusal);
		}
		else {
			this.events.failed(end.status(), left, end.failure());
		}
	}

}
