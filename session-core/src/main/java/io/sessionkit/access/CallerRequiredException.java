package io.sessionkit.access;

import io.sessionkit.SessionException;

/**
 * Thrown if sessions have the caller as their owner and the caller is unknown: nobody is
 * signed in, or the code runs on a thread that does not know of it. Nothing was read or
 * written, and the model was not called.
 */
public final class CallerRequiredException extends SessionException {

	/**
	 * Creates the exception.
	 * @param message a description of what needs a caller and what to do
	 */
	public CallerRequiredException(String message) {
		super(message, null);
	}

	@Override
	public String code() {
		return "caller-required";
	}

}
