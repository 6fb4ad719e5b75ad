package io.sessionkit.compensation;

import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.ToolApproval;
import org.jspecify.annotations.Nullable;

/**
 * A tool call that takes the effect of another one back.
 *
 * @param effect the call whose effect is taken back
 * @param call the compensating call, with its status and the decisions on it. Before a
 * rewind has stored it, the status says whether it would run or wait for a person
 * @param outcome what came of it; null if it has not run, or if that is not known
 */
public record Compensation(Effect effect, ToolApproval call, @Nullable Outcome outcome) {

	/**
	 * The end of a compensating call.
	 *
	 * @param text what the tool returned, what a person has said, or the message of the
	 * exception
	 * @param failed whether the tool threw an exception
	 */
	public record Outcome(String text, boolean failed) {

		/**
		 * Returns the outcome without its text, which may be secret.
		 * @return whether it failed
		 */
		@Override
		public String toString() {
			return "Outcome[failed=" + this.failed + "]";
		}

	}

	/**
	 * Returns the status of the compensating call.
	 * @return the status. A call that has failed is {@link ApprovalStatus#UNCERTAIN}: the
	 * tool may have taken the effect back before it threw
	 */
	public ApprovalStatus status() {
		return this.call.status();
	}

	/**
	 * Returns whether the effect is taken back.
	 * @return true if the compensating tool has returned, or a person has said so
	 */
	public boolean isDone() {
		return status() == ApprovalStatus.DONE;
	}

	/**
	 * Returns whether the compensating tool threw an exception, and nobody has decided
	 * since what to do about it.
	 * @return true if it failed; its message is the text of the outcome
	 */
	public boolean hasFailed() {
		return this.outcome != null && this.outcome.failed() && status() == ApprovalStatus.UNCERTAIN;
	}

}
