package io.sessionkit.codec;

import io.sessionkit.SessionException;

/**
 * Thrown if the application passed a message or value that could not be read back
 * unchanged. For the input of a call it is thrown before the model is called.
 */
public final class UnstorableMessageException extends SessionException {

	/**
	 * Creates the exception.
	 * @param message a description of what cannot be stored and what to pass instead
	 */
	public UnstorableMessageException(String message) {
		super(message, null);
	}

	@Override
	public String code() {
		return "unstorable-message";
	}

}
