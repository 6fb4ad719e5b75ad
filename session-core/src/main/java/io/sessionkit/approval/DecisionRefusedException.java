package io.sessionkit.approval;

import io.sessionkit.SessionException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if a decision on a tool call does not count: somebody else was first, the time
 * to decide was over, the call is not the one that was shown, there is no such call, or
 * the decision does not fit its status or its tool. Nothing was changed.
 */
public final class DecisionRefusedException extends SessionException {

	private final @Nullable ApprovalStatus status;

	private final @Nullable String decidedBy;

	/**
	 * Creates the exception.
	 * @param message a description of why the decision does not count
	 * @param status the status of the call; null if there is no such call, or it is
	 * unknown
	 * @param decidedBy the name of the person whose decision counts; null if nobody
	 * decided
	 */
	public DecisionRefusedException(String message, @Nullable ApprovalStatus status, @Nullable String decidedBy) {
		super(message, null);
		this.status = status;
		this.decidedBy = decidedBy;
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
