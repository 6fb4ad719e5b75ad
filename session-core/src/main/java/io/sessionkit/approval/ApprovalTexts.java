package io.sessionkit.approval;

/**
 * The texts that the model gets instead of the result of a tool call, or with it. If a
 * method throws an exception or returns null, the model gets the default text of this
 * interface. An implementation must be safe for use by many threads.
 */
public interface ApprovalTexts {

	/**
	 * Returns the text for a call that a person has rejected without a reason before it
	 * ran.
	 * @param approval the call
	 * @return the text
	 */
	default String rejected(ToolApproval approval) {
		return "This call was not approved, so it did not run.";
	}

	/**
	 * Returns the text for a call that a policy has denied without a reason.
	 * @param approval the call
	 * @return the text
	 */
	default String denied(ToolApproval approval) {
		return "This call is not allowed, so it did not run.";
	}

	/**
	 * Returns the text for a call on which nobody has decided in time.
	 * @param approval the call
	 * @return the text
	 */
	default String expired(ToolApproval approval) {
		return "Nobody decided on this call in time, so it did not run.";
	}

	/**
	 * Returns the text for a call that was cancelled before it ran.
	 * @param approval the call
	 * @return the text
	 */
	default String cancelled(ToolApproval approval) {
		return "This call was cancelled before it ran.";
	}

	/**
	 * Returns the text for a call of which nobody knows whether it ran, when the turn
	 * continues or ends. That is also one that a person has then rejected without a
	 * reason, or that was to run again and was cancelled.
	 * @param approval the call
	 * @return the text
	 */
	default String uncertain(ToolApproval approval) {
		return "This call was interrupted. It may have run or not; check before you repeat it.";
	}

	/**
	 * Returns the text that tells the model that a person has approved the call with
	 * other arguments. The call ran with those, or may have. The model's own message
	 * stays as it was.
	 * @param approval the call, with both the model's arguments and the approved ones
	 * @param result the result of the tool, the result that a person has given instead,
	 * or the text for a call that may have run but has no result
	 * @return the text
	 */
	default String edited(ToolApproval approval, String result) {
		return "A person changed the arguments of this call to " + approval.effectiveArguments() + ". Result: "
				+ result;
	}

}
