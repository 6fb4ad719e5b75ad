package io.sessionkit;

/**
 * Thrown if a call has to leave its turn, since its process shuts down. The turn is
 * stored up to its last step, and no process works on it. Make a call without a message
 * on the session, in another process: it continues the turn, and runs no tool again.
 */
public final class TurnHandedOverException extends SessionException {

	private final String turn;

	/**
	 * Creates the exception.
	 * @param turn the id of the turn
	 * @param message a description of what was stored and what to do
	 */
	public TurnHandedOverException(String turn, String message) {
		super(message, null);
		this.turn = turn;
	}

	/**
	 * Returns the id of the turn that waits to be continued.
	 * @return the id
	 */
	public String turn() {
		return this.turn;
	}

}
