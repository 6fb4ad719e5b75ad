package io.sessionkit.codec;

/**
 * Thrown while reading if a payload is malformed. The message says what is wrong and
 * quotes none of the payload's text. It never leaves the package.
 */
final class MalformedPayloadException extends RuntimeException {

	MalformedPayloadException(String reason) {
		super(reason, null, false, false);
	}

	static void unless(boolean wellFormed, String reason) {
		if (!wellFormed) {
			throw new MalformedPayloadException(reason);
		}
	}

}
