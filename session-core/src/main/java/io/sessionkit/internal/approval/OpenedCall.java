package io.sessionkit.internal.approval;

import io.sessionkit.TurnResult;

import org.springframework.ai.chat.model.ChatResponse;

/**
 * The beginning of a call: it works on a turn, or its message was queued for the turn
 * that waits, or its request was made before.
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
	 * A call whose turn waits: its message was queued, or it repeats the request of that
	 * turn. It is over.
	 *
	 * @param pause the result of the call
	 */
	record Queued(Pause pause) implements OpenedCall {
	}

	/**
	 * A call whose request was answered before. It is over.
	 *
	 * @param reply the reply as it was stored
	 * @param turn the turn that it ended
	 */
	record Repeated(ChatResponse reply, TurnResult turn) implements OpenedCall {
	}

}
