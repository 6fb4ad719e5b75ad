package io.sessionkit.codec;

/**
 * Says while reading what is wrong with a payload, in words that hold none of its text.
 * It never leaves the package.
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
