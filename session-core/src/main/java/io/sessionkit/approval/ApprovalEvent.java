package io.sessionkit.approval;

/**
 * What happened to a tool call that needs consent. An application hears it as a Spring
 * application event. It is told after it was stored; what a listener throws is logged and
 * changes nothing.
 */
public sealed interface ApprovalEvent {

	/**
	 * The call as it is now.
	 * @return the call
	 */
	Approval approval();

	/**
	 * A call waits for a person.
	 *
	 * @param approval the call as it is now
	 */
	record Requested(Approval approval) implements ApprovalEvent {
	}

	/**
	 * A person has decided.
	 *
	 * @param approval the call as it is now
	 */
	record Decided(Approval approval) implements ApprovalEvent {
	}

	/**
	 * Nobody has decided in time, and the turn goes on. It is told when the turn goes on,
	 * not when the time is over.
	 *
	 * @param approval the call as it is now
	 */
	record Expired(Approval approval) implements ApprovalEvent {
	}

	/**
	 * The call has run, and what it returned is stored.
	 *
	 * @param approval the call as it is now
	 */
	record Executed(Approval approval) implements ApprovalEvent {
	}

}
