package io.sessionkit.approval;

/**
 * The rule for a new message while tool calls of the session wait.
 */
public enum OnNewMessage {

	/** The message is refused with a {@link io.sessionkit.TurnOpenException}. */
	REJECT,

	/**
	 * The waiting calls are answered as cancelled, and their turn ends without the model.
	 * Then the message begins a turn of its own. Calls of which nobody knows whether they
	 * ran can no longer be decided. Hooks are asked about the message when its turn
	 * begins: one that they refuse has cancelled the waiting calls too. If a hook fails
	 * on a message that is queued in the waiting turn, nothing is changed, and the call
	 * ends in what the hook has thrown.
	 */
	CANCEL,

	/**
	 * The message is kept with the open turn, as hooks leave it, unless one refuses or
	 * answers it. When the turn continues, the message follows the results of its tools.
	 * The call with the message continues it if nothing waits any more. A message for
	 * another branch than that of the turn is refused, as with {@link #REJECT}.
	 */
	QUEUE

}
