package io.sessionkit;

/**
 * An owner or an id that breaks a rule of {@link SessionKey}.
 */
public final class InvalidSessionKeyException extends SessionException {

	public InvalidSessionKeyException(String message) {
		super(message, null);
	}

}
