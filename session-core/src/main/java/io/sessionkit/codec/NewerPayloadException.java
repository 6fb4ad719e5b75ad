package io.sessionkit.codec;

/**
 * Says while reading what of a payload a newer version has written. It never leaves the
 * package.
 */
final class NewerPayloadException extends RuntimeException {

	NewerPayloadException(String what) {
		super(what, null, false, false);
	}

}
