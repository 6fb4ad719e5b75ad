package io.sessionkit;

/**
 * Thrown if another call is working on the session, in this process or in another one, or
 * may be doing so because this call has lost its lease: on its open turn, or with
 * {@link Concurrency#REJECT} or {@link Concurrency#SERIALIZE} on any turn. Also thrown
 * instead of waiting for a transaction of the calling thread, which continues only after
 * this call. This call runs nothing more; the message says what it has done. When the
 * other call is done, or after the commit, read the session: a message of this call may
 * be part of a turn already. Call again if it is not, and without a message if a turn is
 * open.
 */
public final class TurnInProgressException extends SessionException {

	/**
	 * Creates the exception.
	 * @param message a description of what is in progress and what to do
	 */
	public TurnInProgressException(String message) {
		super(message, null);
	}

	@Override
	public String code() {
		return "turn-in-progress";
	}

}
