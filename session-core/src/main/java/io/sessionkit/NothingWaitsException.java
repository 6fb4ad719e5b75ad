package io.sessionkit;

/**
 * Thrown if a call has no message, so it is to continue a turn, and nothing in its
 * session waits to be continued. Another call may have continued it meanwhile. The model
 * was not called.
 */
public final class NothingWaitsException extends SessionException {

	/**
	 * Creates the exception.
	 * @param message a description of the session and what to do
	 */
	public NothingWaitsException(String message) {
		super(message, null);
	}

	@Override
	public String code() {
		return "nothing-waits";
	}

}
