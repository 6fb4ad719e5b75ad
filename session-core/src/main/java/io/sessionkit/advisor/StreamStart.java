package io.sessionkit.advisor;

import io.sessionkit.SessionKey;

/**
 * Learns, as a parameter of a call, of the session that the call works on.
 */
@FunctionalInterface
interface StreamStart {

	/**
	 * Handles the session of the call before its turn is opened, on a thread that may
	 * wait. Called again each time the call looks whether it is its turn.
	 * @param key the session
	 * @param stored whether the turn is stored there
	 */
	void opening(SessionKey key, boolean stored);

}
