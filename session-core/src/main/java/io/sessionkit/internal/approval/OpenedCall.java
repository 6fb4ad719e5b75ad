package io.sessionkit.internal.approval;

import io.sessionkit.TurnResult;

import org.springframework.ai.chat.model.ChatResponse;

/**
 * The beginning of a call: it works on a turn, or its message was queued for the turn
 * that waits, or its messages have joined the turn of another call, or its request was
 * made before.
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
	 * A call whose turn waits: its message was queued or has joined that turn, or it
	 * repeats the request of that turn. It is over.
	 *
	 * @param pause the result of the call
	 * @param joined whether its messages have joined the turn of another call
	 */
	record Queued(Pause pause, boolean joined) implements OpenedCall {
	}

	/**
	 * A call that is answered by a turn that is stored: its messages have joined it, or
	 * its request was made before. It is over.
	 *
	 * @param reply the reply as it was stored
	 * @param turn the turn that it ended
	 * @param joined whether its messages have joined the turn of another call
	 */
	record Answered(ChatResponse reply, TurnResult turn, boolean joined) implements OpenedCall {
	}

}
