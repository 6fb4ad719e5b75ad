package io.sessionkit.internal.call;

import io.sessionkit.SessionKey;
import org.jspecify.annotations.Nullable;

/**
 * Learns, as a parameter of a call, of the session that the call works on, on threads
 * that may wait.
 */
public interface StreamStart {

	/**
	 * A call whose turn is to be opened.
	 *
	 * @param key the session
	 * @param isStored whether the turn is stored there
	 * @param isEdited whether hooks may change what is stored of it
	 * @param mayBegin whether the call may begin the session
	 * @param endsWithTurn whether the session is erased with another call
	 * @param request the name that the client gave to the request; null for none
	 */
	record Opening(SessionKey key, boolean isStored, boolean isEdited, boolean mayBegin, boolean endsWithTurn,
			@Nullable String request) {
	}

	/**
	 * Handles the session of the call before its turn is opened. Called again each time
	 * the call looks whether it is its turn.
	 */
	void opening(Opening opening);

	/**
	 * Handles that the call waits for another one that makes the same request. Called
	 * again each time it looks.
	 * @param key the session
	 * @param request the name that the client gave to the request
	 */
	void repeating(SessionKey key, String request);

}
