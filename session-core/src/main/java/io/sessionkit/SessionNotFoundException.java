package io.sessionkit;

/**
 * Thrown if an operation requires a session and there is none under its key, it has
 * expired, or the caller does not reach it, whether it exists or not.
 */
public final class SessionNotFoundException extends SessionException {

	/**
	 * Creates the exception.
	 * @param message a description of what is missing and what to do
	 */
	public SessionNotFoundException(String message) {
		super(message, null);
	}

	@Override
	public String code() {
		return "session-not-found";
	}

}
