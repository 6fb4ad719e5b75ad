package io.sessionkit.internal.turn;

import java.util.List;
import java.util.Optional;

import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.internal.Attempts;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * Finds the turns that calls have left open, and lets one call at a time continue each of
 * them. Safe for use by many threads and processes.
 */
public final class WaitingTurns {

	private final TurnSetup setup;

	private final SessionStore store;

	WaitingTurns(TurnSetup setup) {
		this.setup = setup;
		this.store = setup.store();
	}

	/**
	 * Continues the open turn of a session; no other call can work on it at the same
	 * time. Hooks run on the messages that were queued while the turn waited, but not
	 * again on its input. The merge is asked again which part of the history to send.
	 * @param request the request of this call; its input is ignored
	 * @return the turn, which holds a reply back
	 * @throws IllegalStateException if the session has no open turn
	 * @throws io.sessionkit.TurnInProgressException if another call works on it
	 * @throws SessionConflictException if the session has moved on since, so that the
	 * turn can no longer become history
	 * @throws io.sessionkit.UnsupportedVersionException if a newer version has left the
	 * turn open
	 * @throws io.sessionkit.SessionLostException if the session does not have the turn
	 * that the caller expects
	 */
	public RunningTurn resume(TurnRequest request) {
		RunningTurn turn = takeOver(request);
		try {
			if (!turn.isOnHead()) {
				throw new SessionConflictException("Session " + request.key()
						+ " has moved on since its open turn began to wait, so that turn cannot become history any"
						+ " more. End it with Approvals.cancel(..).", null);
			}
			turn.beginAgain();
			turn.mergeAgain();
			return turn;
		}
		catch (RuntimeException | Error ex) {
			turn.abandon(ex);
			throw ex;
		}
	}

	/**
	 * Takes over the open turn of a session only to end it. Queued messages are ignored,
	 * and the session may have moved on.
	 * @param request the request that names the session
	 * @return the turn, which holds a reply back
	 * @throws IllegalStateException if the session has no open turn
	 * @throws io.sessionkit.TurnInProgressException if another call works on it
	 */
	public RunningTurn takeOver(TurnRequest request) {
		SessionKey key = request.key();
		Turn open = find(key).orElseThrow(() -> nothingWaits(request));
		TurnLease lease = this.setup.leases().take(key, open.id());
		try {
			return continued(request, open, lease);
		}
		catch (RuntimeException | Error ex) {
			lease.leave();
			throw ex;
		}
	}

	private IllegalStateException nothingWaits(TurnRequest request) {
		request.checkExpected((request.expectedTurn() > 0) ? this.store.find(request.key()).orElse(null) : null);
		return new IllegalStateException("The call on session " + request.key()
				+ " has no message, and nothing in the session waits to be continued. Add .user(..) to the call.");
	}

	/**
	 * Reads the turn again and opens it for this call.
	 * @param seen the turn as it was before the lease was taken; another call may have
	 * continued it in between
	 */
	private RunningTurn continued(TurnRequest request, Turn seen, TurnLease lease) {
		SessionKey key = request.key();
		PauseRecord pause = pause(key, seen.id()).orElseThrow(() -> ended(key, seen));
		Turn open = this.store.turns(key, new Tail(seen.number() + 1, 1))
			.stream()
			.filter((turn) -> turn.status().isOpen())
			.findFirst()
			.orElseThrow(() -> ended(key, seen));
		List<SessionItem> items = this.store.items(key, open.number());
		ContinuedTurn continued = new ContinuedTurn(open, items, pause, lease);
		TurnRequest again = request.input(continued.messages());
		return new RunningTurn(again, this.setup, KeptParameters.NONE, continued);
	}

	private static SessionConflictException ended(SessionKey key, Turn turn) {
		return new SessionConflictException("The open turn " + turn.number() + " of session " + key
				+ " was continued or ended by another call in the meantime. Read the session again.", null);
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
			.flatMap((number) -> this.store.turns(key, new Tail(number + 1, 1)).stream().findFirst());
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
	 * Queues messages for an open turn. When the turn continues, they follow the results
	 * of its tools.
	 * @param key the session
	 * @param messages the messages of the caller
	 * @return the turn that they are kept with
	 * @throws io.sessionkit.UnstorableMessageException if a message cannot be stored
	 * @throws SessionConflictException if the turn has continued in the meantime
	 */
	public Turn queue(SessionKey key, List<Message> messages) {
		Turn open = find(key).orElseThrow(() -> gone(key));
		return Attempts.FEW.make(() -> {
			PauseRecord pause = pause(key, open.id()).orElseThrow(() -> gone(key));
			boolean queued = this.store.put(key, pause.queue(key, open.id(), messages, this.store.options().codec()));
			return queued ? Optional.of(open) : Optional.empty();
		}).orElseThrow(() -> gone(key));
	}

	private static SessionConflictException gone(SessionKey key) {
		return new SessionConflictException("The turn that waited on session " + key
				+ " has continued in the meantime. The new message was not stored; call again.", null);
	}

	private Optional<PauseRecord> pause(SessionKey key, String turnId) {
		return this.store.records(key, TurnRecords.PAUSE)
			.stream()
			.filter((record) -> record.id().equals(turnId))
			.findFirst()
			.map((record) -> PauseRecord.read(record, this.store.options().codec()));
	}

	/**
	 * Returns the name of the holder of the lease of an open turn.
	 * @param key the session
	 * @param turnId the turn
	 * @return the holder; null if no call works on the turn at this moment
	 */
	public @Nullable String leaseHolder(SessionKey key, String turnId) {
		return TurnLease.holder(this.store, key, turnId);
	}

}
