package io.sessionkit.internal.approval;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

import io.sessionkit.NothingWaitsException;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionLostException;
import io.sessionkit.approval.ApprovalEvent;
import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.internal.Attempts;
import io.sessionkit.internal.ledger.HeldCalls;
import io.sessionkit.internal.ledger.Ledger;
import io.sessionkit.internal.ledger.LedgerEntry;
import io.sessionkit.internal.ledger.SafeTexts;
import io.sessionkit.internal.opening.TurnRequest;
import io.sessionkit.internal.turn.RunningTurn;
import io.sessionkit.internal.turn.Turns;
import io.sessionkit.internal.turn.WaitingTurns;
import io.sessionkit.observation.CallStage;
import io.sessionkit.observation.ObservedCall;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Ends the open turn of a session without the model.
 */
final class OpenTurnCancel {

	private static final Log logger = LogFactory.getLog(OpenTurnCancel.class);

	private final Turns turns;

	private final WaitingTurns waitingTurns;

	private final Ledger ledger;

	private final SafeTexts texts;

	OpenTurnCancel(Turns turns, GateSetup setup) {
		this.turns = turns;
		this.waitingTurns = turns.waitingTurns();
		this.ledger = setup.ledger();
		this.texts = setup.rules().texts();
	}

	/**
	 * Ends the open turn of a session.
	 * @param events is told of the calls
	 * @return the calls that were open, as they are now
	 * @see GatedTurns#cancel
	 */
	List<ToolApproval> cancel(SessionKey key, Consumer<ApprovalEvent> events) {
		if (!this.waitingTurns.isOpen(key)) {
			return List.of();
		}
		ObservedCall observed = this.turns.observer().begin(false);
		TurnRequest request = TurnRequest.of(key, List.of()).limit(0).observed(observed);
		try {
			return observed.observe(CallStage.CALL, () -> cancelOrAgain(request, events));
		}
		catch (NothingWaitsException ex) {
			if (this.waitingTurns.isOpen(key)) {
				throw ex;
			}
			// another call has ended the turn meanwhile
			return List.of();
		}
		catch (SessionLostException ex) {
			// the turn has gone with its session
			return List.of();
		}
	}

	/**
	 * A decision in between must not be lost, so its call is read again. Hooks see the
	 * turn once more then, and listeners are told of each attempt: that it was cancelled
	 * and is still open, and in the end how it is kept.
	 */
	private List<ToolApproval> cancelOrAgain(TurnRequest request, Consumer<ApprovalEvent> events) {
		Deque<SessionConflictException> conflicts = new ArrayDeque<>();
		return Attempts.FEW.make(() -> {
			try {
				return Optional.of(cancelOpen(request, events));
			}
			catch (SessionConflictException ex) {
				logger.debug("The open turn of session " + request.key() + " changed while it was cancelled.");
				conflicts.add(ex);
				return Optional.<List<ToolApproval>>empty();
			}
		}).orElseThrow(conflicts::getLast);
	}

	private List<ToolApproval> cancelOpen(TurnRequest request, Consumer<ApprovalEvent> events) {
		RunningTurn turn = this.waitingTurns.takeOver(request);
		try {
			HeldCalls.takeAttributes(turn, this.ledger);
			takeQueued(turn);
			HeldCalls calls = HeldCalls.of(turn, this.ledger, this.texts);
			List<LedgerEntry> ended = calls.cancelled();
			turn.alongside(() -> this.ledger.closingUndecided(ended));
			endWithoutModel(turn, calls, ended);
			tellEnded(ended, events);
			return ended.stream().map(LedgerEntry::approval).toList();
		}
		catch (Throwable ex) {
			turn.abandon(ex);
			throw ex;
		}
	}

	private static void tellEnded(List<LedgerEntry> ended, Consumer<ApprovalEvent> events) {
		for (LedgerEntry entry : ended) {
			if (entry.status() == ApprovalStatus.CANCELLED) {
				events.accept(new ApprovalEvent.Cancelled(entry.approval()));
			}
			else if (entry.status() == ApprovalStatus.EXPIRED) {
				events.accept(new ApprovalEvent.Expired(entry.approval()));
			}
		}
	}

	private static void endWithoutModel(RunningTurn turn, HeldCalls calls, List<LedgerEntry> ended) {
		if (turn.isOnHead()) {
			turn.holding().giveUp(calls.answers(ended));
			turn.complete(null);
		}
		else {
			turn.giveUp();
		}
	}

	/** Makes queued messages part of a turn that can become history. */
	private static void takeQueued(RunningTurn turn) {
		int left = turn.isOnHead() ? turn.takeQueued() : 0;
		if (left > 0) {
			logger
				.warn("Queued messages on session " + turn.key() + " were left out when its turn was cancelled, since a"
						+ " hook refused or answered them. Calls that had sent them: " + left + ".");
		}
	}

}
