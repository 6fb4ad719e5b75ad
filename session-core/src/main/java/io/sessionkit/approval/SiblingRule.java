package io.sessionkit.approval;

/**
 * The rule for the calls in a reply that need no consent, while another call of the reply
 * waits.
 */
public enum SiblingRule {

	/**
	 * These calls do not run before all waiting calls are decided. So a person decides
	 * before any other call of the reply has taken effect.
	 */
	HOLD,

	/**
	 * These calls run first, and their results are kept with the calls that wait. In a
	 * process that shuts down they run in the call that continues the turn.
	 */
	RUN

}
