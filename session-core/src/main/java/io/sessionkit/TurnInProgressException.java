package io.sessionkit;

/**
 * Another call works on the open turn of the session at this moment, in this process or
 * another one. Nothing was changed; try again when it is done.
 */
public final class TurnInProgressException extends SessionException {

	public TurnInProgressException(String message) {
		super(message, null);
	}

}
