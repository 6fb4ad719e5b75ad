package io.sessionkit.approval;

/**
 * What becomes of a new message while tool calls of the session wait.
 */
public enum NewMessageRule {

	/** It is refused with a {@link io.sessionkit.SessionPausedException}. */
	REJECT,

	/**
	 * The waiting calls are answered as cancelled and end their turn, without the model;
	 * then the message begins a turn of its own.
	 */
	CANCEL,

	/**
	 * It is kept with the open turn, which goes on with it behind the results of its
	 * tools.
	 */
	QUEUE

}
