package io.sessionkit.internal.tree;

import java.util.Optional;

import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;

/**
 * Finds a stored turn by its number, on any branch and with any status, without its
 * items.
 */
public final class StoredTurns {

	private StoredTurns() {
	}

	/**
	 * Returns the turn of a number.
	 * @param number the number, less than {@link Long#MAX_VALUE}
	 * @return the turn; empty if there is none
	 */
	public static Optional<Turn> find(SessionStore store, SessionKey key, long number) {
		return store.turns(key, new Tail(number + 1, 1)).stream().filter((turn) -> turn.number() == number).findFirst();
	}

}
