package io.sessionkit.approval;

import io.sessionkit.SessionException;

/**
 * Thrown if the caller may not decide a tool call of a session that the caller reaches,
 * or revoke a decision on later ones: the calls of the tool are decided by others.
 * Nothing has changed.
 */
public final class DeciderRequiredException extends SessionException {

	/**
	 * Creates the exception.
	 * @param message a description of who decides instead
	 */
	public DeciderRequiredException(String message) {
		super(message, null);
	}

	@Override
	public String code() {
		return "decider-required";
	}

}
