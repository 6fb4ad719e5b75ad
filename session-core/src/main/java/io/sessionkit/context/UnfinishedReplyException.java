package io.sessionkit.context;

import io.sessionkit.SessionException;
import io.sessionkit.SessionKey;

/**
 * Thrown if the model's stream has ended without a finish reason, and
 * {@code sessionkit.require-finish-reason} is true: the connection may have been lost
 * within the reply. None of its tools has run.
 */
public final class UnfinishedReplyException extends SessionException {

	/**
	 * Creates the exception.
	 * @param key the session
	 */
	public UnfinishedReplyException(SessionKey key) {
		super("The stream of the model has ended without a finish reason in a turn on session " + key
				+ ", so its reply may be incomplete. Ask again, or call without a message if a part of the turn was stored."
				+ " If the model never sends a finish reason, set sessionkit.require-finish-reason=false.", null);
	}

	@Override
	public String code() {
		return "unfinished-reply";
	}

}
