package io.sessionkit.approval;

/**
 * What the model is told in the place of a result, or with it. Where a method throws, or
 * returns null, the model is told what this interface says. It must be safe for use by
 * many threads.
 */
public interface ApprovalTexts {

	/**
	 * A person has said no, and no reason was given.
	 * @param approval the call
	 * @return the text
	 */
	default String rejected(Approval approval) {
		return "This call was not approved, so it did not run.";
	}

	/**
	 * A policy has said no, and no reason was given.
	 * @param approval the call
	 * @return the text
	 */
	default String denied(Approval approval) {
		return "This call is not allowed, so it did not run.";
	}

	/**
	 * Nobody has decided in time.
	 * @param approval the call
	 * @return the text
	 */
	default String expired(Approval approval) {
		return "Nobody decided on this call in time, so it did not run.";
	}

	/**
	 * The conversation went on without it.
	 * @param approval the call
	 * @return the text
	 */
	default String cancelled(Approval approval) {
		return "This call was cancelled before it ran.";
	}

	/**
	 * The conversation went on, and nobody knows whether the call ran.
	 * @param approval the call
	 * @return the text
	 */
	default String uncertain(Approval approval) {
		return "This call was interrupted. It may have run or not; check before you repeat it.";
	}

	/**
	 * Tells the model that a person has approved the call with other arguments. It ran
	 * with those, or may have. The model's own message stays as it was.
	 * @param approval the call, with both
	 * @param result what the tool returned, what a person has answered in its place, or
	 * what is said of a call of which nobody knows whether it ran
	 * @return the text
	 */
	default String edited(Approval approval, String result) {
		return "A person changed the arguments of this call to " + approval.effectiveArguments() + ". Result: "
				+ result;
	}

}
