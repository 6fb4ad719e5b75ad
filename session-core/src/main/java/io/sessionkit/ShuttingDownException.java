package io.sessionkit;

/**
 * Thrown if a call comes to a process that shuts down, or waits in line there. Nothing
 * was run; make the call again, and another process takes it. A rewind that has begun
 * stops before its next tool, and goes on there if it is called again. A call whose
 * messages have joined the turn of another process ends with a
 * {@link TurnHandedOverException} instead.
 */
public final class ShuttingDownException extends SessionException {

	/**
	 * Creates the exception.
	 * @param message a description of what was not begun and what to do
	 */
	public ShuttingDownException(String message) {
		super(message, null);
	}

	@Override
	public String code() {
		return "shutting-down";
	}

}
