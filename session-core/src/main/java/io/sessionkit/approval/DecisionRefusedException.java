package io.sessionkit.approval;

import io.sessionkit.SessionException;
import org.jspecify.annotations.Nullable;

/**
 * A decision on a tool call does not count: somebody else was first, the time was over,
 * the call is not the one that was shown, or there is none. Nothing was changed.
 */
public final class DecisionRefusedException extends SessionException {

	private final @Nullable ApprovalStatus status;

	private final @Nullable String decidedBy;

	public DecisionRefusedException(String message, @Nullable ApprovalStatus status, @Nullable String decidedBy) {
		super(message, null);
		this.status = status;
		this.decidedBy = decidedBy;
	}

	/**
	 * What the call has come to.
	 * @return its status now; null if there is no such call
	 */
	public @Nullable ApprovalStatus status() {
		return this.status;
	}

	/**
	 * Whose decision counts.
	 * @return who decided; null if nobody did
	 */
	public @Nullable String decidedBy() {
		return this.decidedBy;
	}

}
