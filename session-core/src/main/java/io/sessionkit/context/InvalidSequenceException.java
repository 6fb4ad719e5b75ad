package io.sessionkit.context;

import io.sessionkit.SessionException;

/**
 * Thrown if the messages of a request are not a valid sequence and are not repaired:
 * because the guard is strict, or because no repair is possible.
 */
public final class InvalidSequenceException extends SessionException {

	/**
	 * Creates the exception.
	 * @param message a description of what is wrong and what to do
	 */
	public InvalidSequenceException(String message) {
		super(message, null);
	}

	@Override
	public String code() {
		return "invalid-sequence";
	}

}
