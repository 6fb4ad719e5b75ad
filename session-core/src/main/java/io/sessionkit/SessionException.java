package io.sessionkit;

import org.jspecify.annotations.Nullable;

/**
 * What SessionKit throws. The message names what was wrong and what to do, never the text
 * of a message or a secret.
 */
public abstract class SessionException extends RuntimeException {

	/**
	 * For the exceptions of SessionKit.
	 * @param message what was wrong and what to do
	 * @param cause what it comes from; null if nothing
	 */
	protected SessionException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
