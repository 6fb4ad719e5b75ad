package io.sessionkit.approval;

import io.sessionkit.SessionException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if a decision on a tool call does not count: somebody else was first, the time
 * to decide was over, the call is not the one that was shown, there is no such call, or
 * the decision does not fit its status or its tool. Nothing was changed.
 */
public final class DecisionRefusedException extends SessionException {

	/**
	 * The reasons why a decision does not count.
	 */
	public enum Reason {

		/** There is no such call, or it was not stored yet. */
		UNKNOWN_CALL,

		/** The tool or the arguments of the call are not those that were shown. */
		OTHER_CALL,

		/** Somebody or something has decided the call, or it was cancelled. */
		DECIDED,

		/** The time to decide is over. */
		EXPIRED,

		/** The call waits, so it can be approved or rejected, and nothing else. */
		WAITS,

		/**
		 * The call may have run, so it can be repeated, answered or rejected, by somebody
		 * who knows that.
		 */
		MAY_HAVE_RUN,

		/** The turn of the call has ended. */
		TURN_ENDED,

		/** The tool cannot run with the arguments of the decision. */
		ARGUMENTS,

		/** The call changed on each attempt; nobody knows what it is now. */
		CHANGING,

		/**
		 * The transaction around the decision has written the session and is not
		 * committed; decisions are stored beside it.
		 */
		UNCOMMITTED

	}

	private final Reason reason;

	private final @Nullable ApprovalStatus status;

	private final @Nullable String decidedBy;

	/**
	 * Creates the exception.
	 * @param message a description of why the decision does not count
	 * @param reason the reason
	 * @param status the status of the call; null if there is no such call, or it is
	 * unknown
	 * @param decidedBy the name of the person whose decision counts; null if nobody
	 * decided
	 */
	public DecisionRefusedException(String message, Reason reason, @Nullable ApprovalStatus status,
			@Nullable String decidedBy) {
		super(message, null);
		this.reason = reason;
		this.status = status;
		this.decidedBy = decidedBy;
	}

	@Override
	public String code() {
		return "decision-refused";
	}

	/**
	 * Returns why the decision does not count.
	 * @return the reason
	 */
	public Reason reason() {
		return this.reason;
	}

	/**
	 * Returns the status of the call.
	 * @return its status now; null if there is no such call, or if the call changed on
	 * each attempt
	 */
	public @Nullable ApprovalStatus status() {
		return this.status;
	}

	/**
	 * Returns the name of the person whose decision counts.
	 * @return the name; null if nobody decided
	 */
	public @Nullable String decidedBy() {
		return this.decidedBy;
	}

}
