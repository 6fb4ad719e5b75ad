package io.sessionkit.access;

import io.sessionkit.SessionException;

/**
 * Thrown if somebody is signed in under a name that no owner of sessions can have: a
 * blank or a very long one, or one with control characters. Signing in once more does not
 * help. Nothing was read or written, and the model was not called.
 */
public final class CallerRefusedException extends SessionException {

	/**
	 * Creates the exception.
	 * @param message a description of the rule that the name breaks and what to do
	 */
	public CallerRefusedException(String message) {
		super(message, null);
	}

}
