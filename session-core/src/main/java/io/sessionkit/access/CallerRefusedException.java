package io.sessionkit.access;

import io.sessionkit.SessionException;

/**
 * Thrown by the {@link CallerResolver} of the starter if somebody is signed in under a
 * name that no owner of sessions can have: a blank or a very long one, or one with
 * control characters. One of your own throws it too, in place of what {@link Caller#of}
 * throws for such a name. Signing in once more does not help. Nothing was read or
 * written, and the model was not called.
 */
public final class CallerRefusedException extends SessionException {

	/**
	 * Creates the exception.
	 * @param message a description of the rule that the name breaks and what to do
	 */
	public CallerRefusedException(String message) {
		super(message, null);
	}

	@Override
	public String code() {
		return "caller-refused";
	}

}
