package io.sessionkit;

/**
 * A request whose messages are not a valid sequence, where the application asked to be
 * told instead of having it repaired.
 */
public final class InvalidSequenceException extends SessionException {

	public InvalidSequenceException(String message) {
		super(message, null);
	}

}
