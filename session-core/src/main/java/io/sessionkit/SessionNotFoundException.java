package io.sessionkit;

/**
 * No session under this key, or one that has expired, where there must be one.
 */
public final class SessionNotFoundException extends SessionException {

	public SessionNotFoundException(String message) {
		super(message, null);
	}

}
