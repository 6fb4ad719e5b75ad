package io.sessionkit.approval;

/**
 * A change of a tool call that needs consent. An application receives it as a Spring
 * application event, from the {@code Approvals} of the auto-configuration, and from those
 * of its own that have a listener which publishes it. It is published after the change
 * was stored, in a transaction of the caller before its commit; if the answer of the
 * store was lost, there is no event, though the ledger of the session may have the
 * change. An exception of a listener is logged and changes nothing.
 * <p>
 * All but what {@code Approvals.decide} and {@code cancel} publish is published by a call
 * while it works on the turn. It waits for the listeners, so they can only read the
 * session of the turn: what a {@link io.sessionkit.hook.SessionListener} is refused
 * before its turn has ended is a {@link io.sessionkit.NestedTurnException} there.
 * <p>
 * More types may be added, so a {@code switch} needs a default. There is none for a call
 * that becomes {@link ApprovalStatus#UNCERTAIN}, which is seen only when the call is
 * read, nor for one that was approved and whose turn a limit or a failure ends before it
 * runs, nor for one that goes with its session.
 */
public sealed interface ApprovalEvent {

	/**
	 * Returns the call as it is now.
	 * @return the call
	 */
	ToolApproval approval();

	/**
	 * A call waits for a person.
	 *
	 * @param approval the call as it is now
	 */
	record Requested(ToolApproval approval) implements ApprovalEvent {
	}

	/**
	 * A person has decided, about this call or, after it was requested, by a standing
	 * decision that covers it. Of a standing decision this event tells when the turn
	 * continues.
	 *
	 * @param approval the call as it is now
	 */
	record Decided(ToolApproval approval) implements ApprovalEvent {
	}

	/**
	 * Nobody has decided in time, and the turn continues or is cancelled. This event is
	 * published then, not when the time is over, and once more each time that the turn
	 * has to be continued again, as after a failure of the model.
	 *
	 * @param approval the call as it is now
	 */
	record Expired(ToolApproval approval) implements ApprovalEvent {
	}

	/**
	 * The turn has ended without the call, by {@code Approvals.cancel} or a new message.
	 * This event is also published for a call that nobody was asked about: of the same
	 * reply, which waited with others, or of a turn that is stored in steps.
	 *
	 * @param approval the call as it is now
	 */
	record Cancelled(ToolApproval approval) implements ApprovalEvent {
	}

	/**
	 * A policy has denied the arguments that a person has changed, when the turn was
	 * continued. A call that a policy denies at once is never requested.
	 *
	 * @param approval the call as it is now
	 */
	record Denied(ToolApproval approval) implements ApprovalEvent {
	}

	/**
	 * The call has run, and its result is stored; of a turn that is stored in steps also
	 * one that nobody was asked about.
	 *
	 * @param approval the call as it is now
	 */
	record Executed(ToolApproval approval) implements ApprovalEvent {
	}

}
