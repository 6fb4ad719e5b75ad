package io.sessionkit.stream;

/**
 * Thrown if the call that an application supplies for a decided turn cannot continue it,
 * or has left it open. Its text is SessionKit's own, so that it may be logged.
 */
final class UnfitContinuationException extends RuntimeException {

	UnfitContinuationException(String message) {
		super(message);
	}

}
