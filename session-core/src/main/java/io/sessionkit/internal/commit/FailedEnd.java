package io.sessionkit.internal.commit;

import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionException;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionLostException;
import io.sessionkit.Turn;
import io.sessionkit.internal.line.Admission;
import io.sessionkit.internal.round.TurnEvents;
import io.sessionkit.store.CommitFailedException;
import io.sessionkit.store.StoreUnavailableException;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.model.ChatResponse;

/**
 * Makes the exceptions for an end of a turn that is not stored. They say what is kept of
 * the turn, and what to do.
 */
final class FailedEnd {

	static final String CONTINUE = "call again without a message to continue it, or end it with"
			+ " Approvals.cancel(..).";

	private final SessionKey key;

	private final TurnWriter writer;

	FailedEnd(SessionKey key, TurnWriter writer) {
		this.key = key;
		this.writer = writer;
	}

	/**
	 * Returns the exception for a turn whose end the store has not written, since others
	 * did not let go of the session, as with a transaction that stays open. To keep the
	 * turn aside would wait for them once more.
	 */
	SessionConflictException outwaited(ChatResponse answer, RuntimeException cause) {
		SessionConflictException why = new SessionConflictException("Others wrote to session " + this.key
				+ " for as long as the store has waited for them, so the end of the turn is not stored. "
				+ reply(answer) + (this.writer.isOpen() ? "The turn is still open; " + CONTINUE
						: "Nothing of it is stored; call again."),
				answer);
		why.addSuppressed(cause);
		return why;
	}

	CommitFailedException commitFailed(@Nullable ChatResponse answer, RuntimeException cause) {
		String message = "The turn on session " + this.key + " could not be stored: " + cause.getClass().getSimpleName()
				+ ". " + ((answer != null) ? "reply() has what the model answered. " : "");
		return isUnwritten(cause) ? CommitFailedException.unwritten(message + refused(), answer, cause)
				: new CommitFailedException(message + unknown(), answer, cause);
	}

	private String refused() {
		return this.writer.isOpen() ? "The store has refused its end. The turn is still open; " + CONTINUE
				: "The store has refused it, and the session is as it was before the answer.";
	}

	private String unknown() {
		return "Read the session before you ask again: it has all of the turn, or "
				+ (this.writer.isOpen() ? "the turn is still open; then " + CONTINUE : "nothing.");
	}

	/**
	 * Returns what the store has of the turn although its end could not be stored. It is
	 * not known if the store may have all of it.
	 * @param unwritten whether it is certain that the end is not there
	 */
	TurnEvents.Left after(boolean unwritten) {
		Turn known = this.writer.stored();
		if (unwritten || (known != null && !this.writer.isOpen())) {
			return TurnEvents.Left.of((known != null) ? known.status() : null);
		}
		return TurnEvents.Left.UNKNOWN;
	}

	/**
	 * Returns whether the turn is unwritten. A failure after it was stored does not mean
	 * that.
	 */
	private boolean isUnwritten(RuntimeException cause) {
		return cause instanceof StoreUnavailableException failure && failure.isUnwritten()
				&& (this.writer.stored() == null || this.writer.isOpen());
	}

	/**
	 * Returns the exception for a turn that another writer, or the loss of its session or
	 * of its place in line, has kept from being stored.
	 * @param admission the admission of the call; null if it does not stand in line
	 */
	SessionException moved(@Nullable ChatResponse answer, @Nullable Admission admission) {
		SessionLostException lost = lost(answer);
		if (lost != null) {
			return lost;
		}
		if (admission != null && admission.isLost()) {
			return new SessionConflictException("The call on session " + this.key
					+ " has lost its place in line. That happens if it cannot show for sessionkit.lease that it is there,"
					+ " and if the store loses what it holds. " + left(answer), answer);
		}
		return new SessionConflictException("Session " + this.key + " moved on from version "
				+ this.writer.baseVersion() + " while this turn was open. " + left(answer), answer);
	}

	/**
	 * Returns the exception for a session that is gone.
	 * @return the exception; null if the session is there
	 */
	@Nullable SessionLostException lost(@Nullable ChatResponse answer) {
		return this.writer.isErased() ? new SessionLostException(this.key, this.writer.baseTurns(), answer) : null;
	}

	/** Returns what has become of the turn, and what to do. */
	private String left(@Nullable ChatResponse answer) {
		if (this.writer.stored() == null) {
			return reply(answer)
					+ "The turn is kept beside the history; call again to continue from what is there now.";
		}
		return reply(answer) + (this.writer.isStillOpen() ? "The turn is still open; " + CONTINUE
				: "Another call has ended the turn; read the session.");
	}

	private static String reply(@Nullable ChatResponse answer) {
		return (answer != null) ? "The reply is in this exception. " : "";
	}

}
