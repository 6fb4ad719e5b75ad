package io.sessionkit.codec;

/**
 * Thrown while reading if a newer version has written a part of a payload. The message
 * names this part. It never leaves the package.
 */
final class NewerPayloadException extends RuntimeException {

	NewerPayloadException(String what) {
		super(what, null, false, false);
	}

}
