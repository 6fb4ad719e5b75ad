package io.sessionkit.internal.call;

/**
 * Learns, as a parameter of a call, that it is not the turn of the call yet.
 */
public interface TurnWait {

	/**
	 * Handles that others work on the session of the call. Called again each time the
	 * call looks whether it is its turn.
	 */
	void waits();

}
