package io.sessionkit;

import org.jspecify.annotations.Nullable;

/**
 * The base class of the exceptions that SessionKit throws. The message says what was
 * wrong and what to do. It never contains the text of a chat message or a secret.
 */
public abstract class SessionException extends RuntimeException {

	/**
	 * Creates the exception.
	 * @param message a description of what was wrong and what to do
	 * @param cause the exception that caused it; null if there is none
	 */
	protected SessionException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
