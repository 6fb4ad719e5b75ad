package io.sessionkit.internal.turn;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

import io.sessionkit.NothingWaitsException;
import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.TurnOpenException;
import io.sessionkit.internal.Attempts;
import io.sessionkit.internal.Names;
import io.sessionkit.internal.attribute.JoiningInput;
import io.sessionkit.internal.lease.HeldReply;
import io.sessionkit.internal.lease.PauseRecord;
import io.sessionkit.internal.lease.TurnLease;
import io.sessionkit.internal.lease.TurnRecords;
import io.sessionkit.internal.line.Admission;
import io.sessionkit.internal.opening.ContinuedTurn;
import io.sessionkit.internal.opening.TurnRequest;
import io.sessionkit.internal.opening.TurnStart;
import io.sessionkit.internal.tree.NewestTurn;
import io.sessionkit.observation.CallStage;
import io.sessionkit.store.Commit;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.Tail;
import io.sessionkit.store.TurnView;
import org.jspecify.annotations.Nullable;

/**
 * Finds the turns that calls have left open, and lets one call at a time continue each of
 * them. Safe for use by many threads and processes.
 */
public final class WaitingTurns {

	/** The kinds of records that are read with a turn to continue it. */
	private static final Set<String> TO_CONTINUE = Set.of(TurnRecords.PAUSE, TurnRecords.HELD_CALLS);

	private static final Set<String> WITH_LEASE = Set.of(TurnRecords.PAUSE, TurnRecords.HELD_CALLS, TurnRecords.LEASE);

	private final TurnSetup setup;

	private final SessionStore store;

	WaitingTurns(TurnSetup setup) {
		this.setup = setup;
		this.store = setup.store();
	}

	/**
	 * Checks that a session outlives a lease on its turn.
	 * @throws IllegalArgumentException if it would not
	 */
	public void checkLife(@Nullable Duration timeToLive) {
		this.setup.leases().checkLife(timeToLive);
	}

	/**
	 * Continues the open turn of a session; no other call can work on it at the same
	 * time. Hooks run on the messages that were queued while the turn waited, as far as
	 * they were not asked about them before, but not again on its input. The merge is
	 * asked again which part of the history to send.
	 * @param request the request of this call; its input is ignored
	 * @param admission the admission of the call, which leaves the line when its work on
	 * the turn ends; null if it does not stand in line
	 * @param taken receives the turn before its hooks run
	 * @return what was found: nothing also if the request names another branch than that
	 * of the turn
	 * @throws SessionConflictException if the session has moved on since, so that the
	 * turn can no longer become history, or if the history is not there any more that the
	 * call has brought which opened it
	 * @throws io.sessionkit.codec.UnsupportedVersionException if a newer version has left
	 * the turn open
	 * @throws io.sessionkit.SessionLostException if the session does not have the turn
	 * that the caller expects
	 */
	public Resumed resume(TurnRequest request, @Nullable Admission admission, Consumer<RunningTurn> taken) {
		Resumed found = request.observed().observe(CallStage.OPEN, () -> found(request, admission));
		if (found instanceof Resumed.Taken open) {
			goOn(open.turn(), taken);
		}
		return found;
	}

	private static void goOn(RunningTurn turn, Consumer<RunningTurn> taken) {
		try {
			checkContinuable(turn);
			taken.accept(turn);
			turn.goOn();
		}
		catch (Throwable ex) {
			turn.abandon(ex);
			throw ex;
		}
	}

	private static void checkContinuable(RunningTurn turn) {
		if (!turn.isOnHead()) {
			throw new SessionConflictException("Session " + turn.key()
					+ " has moved on since its open turn began to wait, so that turn cannot become history any"
					+ " more. End it with Approvals.cancel(..).", null);
		}
		if (!turn.hasItsHistory()) {
			throw new SessionConflictException("The call that began the open turn of session " + turn.key()
					+ " has brought its history, and it is not there to continue behind it: messages of it went with"
					+ " what they may quote when that was deleted, or a hook such as HistoryBlock has sent none of it"
					+ " as messages. Nothing was sent, since the turn would continue another conversation. End it with"
					+ " Approvals.cancel(..), and ask again with the history.", null);
		}
	}

	private Resumed found(TurnRequest request, @Nullable Admission admission) {
		SessionView opened = this.setup.views().openToContinue(request).view();
		if (opened == null || opened.session().openTurn() != 0) {
			return takeOver(opened, request, admission);
		}
		String named = request.start().branch();
		if (named != null && !named.equals(opened.session().branch())) {
			return elsewhere(request.key(), named, "the active branch is " + Names.quoted(opened.session().branch()));
		}
		NewestTurn newest = NewestTurn.of(opened);
		return (newest != null && newest.isQuestion()) ? new Resumed.Question(newest.number())
				: nothingWaits(request.key(), opened);
	}

	/**
	 * Returns that nothing waits on the branch that a call names.
	 * @param where the branch on which there is something to do
	 */
	private static Resumed.Nothing elsewhere(SessionKey key, String named, String where) {
		return new Resumed.Nothing(new NothingWaitsException("The call on branch " + Names.quoted(named)
				+ " of session " + key + " has no message, and nothing waits on that branch to be continued: " + where
				+ ". Add .user(..) to the call, or leave SessionAdvisor.branch(..) out to"
				+ " continue what waits in the session."));
	}

	/**
	 * Takes over the open turn of a session only to end it. Queued messages are ignored,
	 * and the session may have moved on.
	 * @param request the request that names the session
	 * @return the turn, which holds a reply back
	 * @throws io.sessionkit.NothingWaitsException if the session has no open turn
	 * @throws io.sessionkit.TurnInProgressException if another call works on it
	 */
	public RunningTurn takeOver(TurnRequest request) {
		return request.observed().observe(CallStage.OPEN, () -> {
			Resumed found = takeOver(this.setup.views().openToContinue(request).view(), request, null);
			if (found instanceof Resumed.None none) {
				throw none.why();
			}
			return ((Resumed.Taken) found).turn();
		});
	}

	private Resumed takeOver(@Nullable SessionView opened, TurnRequest request, @Nullable Admission admission) {
		if (opened == null || opened.session().openTurn() == 0) {
			return nothingWaits(request.key(), opened);
		}
		TurnLease lease = this.setup.leases().take(request.key()).orElse(null);
		if (lease == null) {
			return busy(request.key());
		}
		boolean works = false;
		try {
			Resumed found = underLease(request, opened, lease, admission);
			works = found instanceof Resumed.Taken;
			return found;
		}
		finally {
			if (!works) {
				lease.leave();
			}
		}
	}

	private static Resumed.Busy busy(SessionKey key) {
		return new Resumed.Busy(new TurnInProgressException("Another call works on the open turn of session " + key
				+ " at this moment, or the session is gone. Nothing was run by this one; call again when it is"
				+ " done. The turn of a process that was killed is free when its sessionkit.lease has passed."));
	}

	private static Resumed.Nothing nothingWaits(SessionKey key, @Nullable SessionView opened) {
		return new Resumed.Nothing(new NothingWaitsException(
				"The call on session " + key + " has no message, and nothing in the session waits to be continued: "
						+ ((opened != null) ? NewestTurn.answered(opened)
								: "there is no such session, or it has expired. Add .user(..) to the call.")
						+ " A message with media needs a text too: without one Spring AI drops it."));
	}

	/**
	 * Reads the turn under its lease and opens it for this call.
	 * @param opened the session as it was before the lease was taken; another call may
	 * have continued the turn in between
	 */
	private Resumed underLease(TurnRequest request, SessionView opened, TurnLease lease,
			@Nullable Admission admission) {
		SessionKey key = request.key();
		long number = opened.session().openTurn();
		TurnView stored = read(key, number, TO_CONTINUE).orElse(null);
		PauseRecord pause = (stored != null) ? pause(stored.records(TurnRecords.PAUSE), stored.turn().id()).orElse(null)
				: null;
		if (stored == null || pause == null) {
			return ended(key, number);
		}
		String named = request.start().branch();
		if (named != null && !named.equals(stored.turn().branch())) {
			return elsewhere(key, named,
					"the branch of the open turn, number " + number + ", is " + Names.quoted(stored.turn().branch()));
		}
		TurnStart start = continued(request, opened, stored, pause, lease);
		request.observed().opened(start.id());
		return new Resumed.Taken(new RunningTurn(new TurnParts(start.request(), () -> start, this.setup, admission)));
	}

	private TurnStart continued(TurnRequest request, SessionView opened, TurnView stored, PauseRecord pause,
			TurnLease lease) {
		TurnRequest again = request.input(stored.items().stream().map(SessionItem::message).toList())
			.parameters(
					this.setup.rules().kept().parameters().continued(request.parameters(), stored.turn().parameters()));
		return TurnStart.continuing(again,
				new ContinuedTurn(this.setup.views().continued(opened, again, stored.turn()), stored, pause, lease));
	}

	private static Resumed.Nothing ended(SessionKey key, long turn) {
		return new Resumed.Nothing(new NothingWaitsException("The open turn " + turn + " of session " + key
				+ " was continued or ended by another call in the meantime. Read the session to see its answer."));
	}

	/**
	 * Returns whether a session has a turn that other calls may continue.
	 * @param key the session
	 * @return true if a turn is open
	 */
	public boolean isOpen(SessionKey key) {
		return this.store.find(key).filter((session) -> session.openTurn() != 0).isPresent();
	}

	/**
	 * Returns the turn that other calls may continue.
	 * @param key the session
	 * @return the turn; empty if there is none
	 */
	public Optional<Turn> find(SessionKey key) {
		return this.store.find(key)
			.map(Session::openTurn)
			.filter((number) -> number != 0)
			.flatMap((number) -> openTurn(key, number));
	}

	/** The turn may have ended, or the session begun anew, since the header was read. */
	private Optional<Turn> openTurn(SessionKey key, long number) {
		return this.store.turns(key, new Tail(number + 1, 1))
			.stream()
			.filter((turn) -> turn.number() == number && turn.status().isOpen())
			.findFirst();
	}

	/**
	 * Returns the reply that an open turn holds back.
	 * @param key the session
	 * @param turnId the turn
	 * @return the reply; empty if the turn holds none back
	 */
	public Optional<HeldReply> held(SessionKey key, String turnId) {
		return pause(key, turnId).map(PauseRecord::held);
	}

	/**
	 * An open turn as it is seen without its lease.
	 *
	 * @param view the turn and its records
	 * @param held the reply that it holds back
	 * @param isAtWork whether a call works on it
	 */
	public record Seen(TurnView view, HeldReply held, boolean isAtWork) {
	}

	/**
	 * Looks at the open turn of a session.
	 * @param key the session
	 * @param turnId the turn
	 * @return the turn; empty if another one is open, or none
	 */
	public Optional<Seen> look(SessionKey key, String turnId) {
		return this.store.find(key)
			.map(Session::openTurn)
			.filter((number) -> number != 0)
			.flatMap((number) -> read(key, number, WITH_LEASE))
			.filter((view) -> view.turn().id().equals(turnId))
			.flatMap((view) -> pause(view.records(TurnRecords.PAUSE), turnId).map((pause) -> new Seen(view,
					pause.held(), TurnLease.holder(this.store, view.records(TurnRecords.LEASE)) != null)));
	}

	/**
	 * Queues messages for an open turn. When the turn continues, they follow the results
	 * of its tools.
	 * @param turn the turn that the messages would begin if none were open
	 * @param input the messages of the caller, as hooks have left them
	 * @return the turn that they are kept with
	 * @throws io.sessionkit.codec.UnstorableMessageException if a message cannot be
	 * stored
	 * @throws TurnOpenException if the open turn is on another branch
	 * @throws TurnInProgressException if another call works on the turn
	 * @throws SessionConflictException if the turn has continued in the meantime
	 */
	public TurnView queue(OpenedTurn turn, JoiningInput input) {
		SessionKey key = turn.key();
		return Attempts.FEW.make(() -> {
			TurnView stored = read(key, turn.openTurn(), WITH_LEASE).orElseThrow(() -> gone(key));
			checkBranch(turn, stored.turn().branch());
			checkFree(key, stored.records(TurnRecords.LEASE));
			PauseRecord pause = pause(stored.records(TurnRecords.PAUSE), stored.turn().id())
				.orElseThrow(() -> gone(key));
			RecordWrite queue = pause.queue(key, stored.turn().id(), input, this.store.options().codec());
			return isQueued(key, queue, turn.answeredBy(stored.turn())) ? Optional.of(stored) : Optional.empty();
		}).orElseThrow(() -> gone(key));
	}

	private static void checkBranch(OpenedTurn turn, String open) {
		if (!open.equals(turn.branch())) {
			throw new TurnOpenException(
					"Session " + turn.key() + " has an open turn, number " + turn.openTurn() + ", on branch "
							+ Names.quoted(open) + ", and the new message is for branch " + Names.quoted(turn.branch())
							+ ". It was not stored. Continue that turn with a call without a"
							+ " message, or end it with Approvals.cancel(..); then call again with the message.",
					turn.openTurn());
		}
	}

	/** Nobody can read the messages that are kept before their turn continues. */
	private boolean isQueued(SessionKey key, RecordWrite queue, List<RecordWrite> alongside) {
		try {
			return put(key, queue, alongside);
		}
		catch (StoreUnavailableException ex) {
			throw ex.isUnwritten() ? ex : new StoreUnavailableException("It is unknown whether the message is kept with"
					+ " the open turn of session " + key + ". If it is, it is in the history when that turn has ended;"
					+ " look there before you send it again. The same request with the same idempotency key keeps it"
					+ " once. " + ex.getMessage(), ex);
		}
	}

	private boolean put(SessionKey key, RecordWrite record, List<RecordWrite> alongside) {
		if (alongside.isEmpty()) {
			return this.store.put(key, record);
		}
		List<RecordWrite> records = new ArrayList<>(alongside);
		records.add(record);
		return this.store.commit(Commit.any(key).records(records)).isStored();
	}

	private void checkFree(SessionKey key, List<SessionRecord> leases) {
		if (TurnLease.holder(this.store, leases) != null) {
			throw new TurnInProgressException("Another call works on the open turn of session " + key
					+ " at this moment. The new message was not stored; call again when it is done.");
		}
	}

	/** Reads a turn that is open, with its pause. */
	private Optional<TurnView> read(SessionKey key, long number, Set<String> kinds) {
		return this.store.turn(key, number, kinds).filter((view) -> view.turn().status().isOpen());
	}

	private static SessionConflictException gone(SessionKey key) {
		return new SessionConflictException("The turn that waited on session " + key
				+ " has continued in the meantime. The new message was not stored; call again.", null);
	}

	private Optional<PauseRecord> pause(SessionKey key, String turnId) {
		return pause(this.store.records(key, TurnRecords.PAUSE), turnId);
	}

	private Optional<PauseRecord> pause(List<SessionRecord> pauses, String turnId) {
		return pauses.stream()
			.filter((record) -> record.id().equals(turnId))
			.findFirst()
			.map((record) -> PauseRecord.read(record, this.store.options().codec()));
	}

	/**
	 * Returns the record of the lease of the open turn of a session.
	 * @param key the session
	 * @return the record; null if no call works on the turn
	 */
	public @Nullable SessionRecord lease(SessionKey key) {
		return this.store.record(key, TurnRecords.LEASE, TurnRecords.LEASE_ID).orElse(null);
	}

	/**
	 * Returns the name of the holder of the lease of the open turn of a session.
	 * @param key the session
	 * @return the holder; null if no call works on the turn at this moment
	 */
	public @Nullable String leaseHolder(SessionKey key) {
		return TurnLease.holder(this.store, key, TurnRecords.LEASE);
	}

}
