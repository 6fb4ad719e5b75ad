package io.sessionkit.approval;

/**
 * What becomes of the calls in a reply that need no consent, while another one waits.
 */
public enum SiblingRule {

	/**
	 * None of them runs before all are decided, so that a decision is never late for what
	 * it stands next to.
	 */
	HOLD,

	/**
	 * They run first, and their results are kept with those that wait.
	 */
	RUN

}
