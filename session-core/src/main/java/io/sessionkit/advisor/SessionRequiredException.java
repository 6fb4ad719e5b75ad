package io.sessionkit.advisor;

import io.sessionkit.SessionException;

/**
 * Thrown if a call names no session and needs one: {@code sessionkit.require-session} is
 * on, or the call says something of its session, such as a branch, a history, an
 * idempotency key or its agent. The model was not called.
 */
public final class SessionRequiredException extends SessionException {

	/**
	 * Creates the exception.
	 * @param message a description of what needs a session and what to do
	 */
	public SessionRequiredException(String message) {
		super(message, null);
	}

	@Override
	public String code() {
		return "session-required";
	}

}
