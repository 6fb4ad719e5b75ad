package io.sessionkit.internal.approval;

import java.util.function.Supplier;

import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionLostException;
import io.sessionkit.TurnHandedOverException;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.Verdict;
import io.sessionkit.approval.ResumeRefusedException;
import io.sessionkit.hook.SessionRefusedException;
import io.sessionkit.internal.KeptMessage;
import io.sessionkit.internal.line.Answer;
import io.sessionkit.store.StoreUnavailableException;

/**
 * A message of a call that the open turn of its session has: it was queued for that turn
 * or has joined it. Whoever sends it again would have it twice in the history, so each
 * failure of the call says where it is.
 */
record OpenTurnMessage(SessionKey key) {

	/**
	 * Does what is left of the call. A failure says that the message is kept, unless it
	 * has gone with its session.
	 * @throws SessionConflictException if nobody can continue the turn
	 * @throws ResumeRefusedException if this call cannot
	 * @throws StoreUnavailableException if the store fails
	 * @throws SessionRefusedException if a hook refuses a message. What else a hook or a
	 * merge throws is thrown as it is
	 */
	<T> T during(Supplier<T> work) {
		try {
			return work.get();
		}
		catch (SessionLostException ex) {
			throw ex;
		}
		catch (SessionConflictException ex) {
			throw because(ex,
					new SessionConflictException(
							text() + " If a call without a message cannot continue the turn either, end it with"
									+ " Approvals.cancel(..): the message is history then.",
							null));
		}
		catch (ResumeRefusedException ex) {
			throw because(ex, new ResumeRefusedException(text() + " " + ex.getMessage(), ex.changes()));
		}
		catch (StoreUnavailableException ex) {
			// not unwritten, whatever the store says of its last write
			throw KeptMessage.with(new StoreUnavailableException(text() + " " + ex.getMessage(), ex), this.key);
		}
		catch (SessionRefusedException ex) {
			throw because(ex, refused(ex));
		}
		catch (RuntimeException | Error ex) {
			// of a hook or a merge, so it stays as it is
			KeptMessage.tell(ex, this.key, text());
			throw ex;
		}
	}

	private SessionRefusedException refused(SessionRefusedException cause) {
		return new SessionRefusedException(
				text() + " If a call without a message is refused too, end the turn with Approvals.cancel(..): what a"
						+ " hook refuses is left out then. " + cause.getMessage(),
				new Verdict(cause.hook(), cause.phase(), Verdict.Kind.REFUSED, cause.reason()));
	}

	private <E extends Exception> E because(Exception cause, E kept) {
		kept.addSuppressed(cause);
		return KeptMessage.with(kept, this.key);
	}

	private String text() {
		return "The message is kept with the open turn of session " + this.key
				+ ", which this call could not continue. Do not send it again.";
	}

	/** Creates the exception if another call continues the turn that it has joined. */
	TurnInProgressException continuedByOthers() {
		return KeptMessage.with(new TurnInProgressException("The message has joined a turn on session " + this.key
				+ " that broke off, and another call continues it at this moment. The message stays in that turn; read the"
				+ " session to see its answer."), this.key);
	}

	/** Creates the exception if the turn broke off and this process shuts down. */
	TurnHandedOverException shuttingDown(Answer turn) {
		return KeptMessage.with(new TurnHandedOverException("The message has joined a turn on session " + this.key
				+ " that broke off, and this process shuts down. The message stays in that turn. Call again without a"
				+ " message, in another process, to continue it.", turn.turn()), this.key);
	}

}
