package io.sessionkit;

/**
 * Thrown for an owner or an id that breaks a rule of {@link SessionKey}.
 */
public final class InvalidSessionKeyException extends SessionException {

	/**
	 * Creates the exception.
	 * @param message a description of the rule that is broken and what to write instead
	 */
	public InvalidSessionKeyException(String message) {
		super(message, null);
	}

	@Override
	public String code() {
		return "invalid-session-key";
	}

}
