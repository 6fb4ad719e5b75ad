package io.sessionkit;

/**
 * A message or value that the application passed and that could not be read back as it
 * was. Thrown before the model is called.
 */
public final class UnstorableMessageException extends SessionException {

	public UnstorableMessageException(String message) {
		super(message, null);
	}

}
