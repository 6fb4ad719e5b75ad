package io.sessionkit;

import org.jspecify.annotations.Nullable;

/**
 * Thrown if a call has to leave its turn, since its process shuts down. The turn is
 * stored up to its last step, and no process works on it. Make a call without a message
 * on the session, in another process: it continues the turn, and runs no tool again. If
 * the end of the process has interrupted a tool, the call of that tool is uncertain and
 * has to be decided first.
 * <p>
 * Also thrown if the messages of the call have joined a turn of another process, which
 * still works on it or has left it in the same way. They stay in that turn, so they must
 * not be sent again. Read the session to see the answer.
 */
public final class TurnHandedOverException extends SessionException {

	private final @Nullable String turnId;

	/**
	 * Creates the exception.
	 * @param message a description of what was stored and what to do
	 * @param turnId the id of the turn; null if it is not known
	 */
	public TurnHandedOverException(String message, @Nullable String turnId) {
		this(message, turnId, null);
	}

	/**
	 * Creates the exception for a call that an interrupt has broken off.
	 * @param message a description of what was stored and what to do
	 * @param turnId the id of the turn; null if it is not known
	 * @param cause the exception with which the interrupted work ended; null if there is
	 * none
	 */
	public TurnHandedOverException(String message, @Nullable String turnId, @Nullable Throwable cause) {
		super(message, cause);
		this.turnId = turnId;
	}

	@Override
	public String code() {
		return "handed-over";
	}

	/**
	 * Returns the id of the turn that waits to be continued.
	 * @return the id; null if the messages of the call have joined a turn of another
	 * process, which has stored nothing of it yet
	 */
	public @Nullable String turnId() {
		return this.turnId;
	}

}
