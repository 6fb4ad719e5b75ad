package io.sessionkit;

/**
 * A payload written by a newer version. Nothing was changed; read it with that version.
 */
public final class UnsupportedVersionException extends SessionException {

	public UnsupportedVersionException(String message) {
		super(message, null);
	}

}
