package io.sessionkit;

/**
 * Thrown if an operation requires a session and there is none under its key, or it has
 * expired.
 */
public final class SessionNotFoundException extends SessionException {

	/**
	 * Creates the exception.
	 * @param message a description of what is missing and what to do
	 */
	public SessionNotFoundException(String message) {
		super(message, null);
	}

}
