package io.sessionkit.codec;

import io.sessionkit.SessionException;

/**
 * Thrown if a payload was written by a newer version. Nothing was changed. Read the
 * payload with that version.
 */
public final class UnsupportedVersionException extends SessionException {

	/**
	 * Creates the exception.
	 * @param message a description of the payload and its version
	 */
	public UnsupportedVersionException(String message) {
		super(message, null);
	}

	@Override
	public String code() {
		return "unsupported-version";
	}

}
