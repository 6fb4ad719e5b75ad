package io.sessionkit.internal.approval;

/**
 * The beginning of a call: either it works on a turn, or its message was queued for the
 * turn that waits.
 */
public sealed interface OpenedCall {

	/**
	 * A call that works on a turn.
	 *
	 * @param call the call
	 */
	record Working(TurnCall call) implements OpenedCall {
	}

	/**
	 * A call whose message was queued. It is over.
	 *
	 * @param pause the result of the call
	 */
	record Queued(Pause pause) implements OpenedCall {
	}

}
