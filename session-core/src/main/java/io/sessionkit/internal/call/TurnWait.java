package io.sessionkit.internal.call;

import java.util.function.BooleanSupplier;

/**
 * Learns, as a parameter of a call, that it is not the turn of the call yet.
 */
public interface TurnWait {

	/**
	 * Handles that others work on the session of the call. Called again each time the
	 * call looks whether it is its turn.
	 * @param leaving leaves the line, and returns whether the turn of another call has
	 * the messages of this one. It may block
	 */
	void waits(BooleanSupplier leaving);

}
