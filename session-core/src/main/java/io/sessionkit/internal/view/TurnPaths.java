package io.sessionkit.internal.view;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

import io.sessionkit.SessionKey;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;

/**
 * The histories of a session, of all its branches.
 */
final class TurnPaths {

	private final Map<Long, Long> parents = new HashMap<>();

	TurnPaths(SessionStore store, SessionKey key) {
		store.turns(key, Tail.ALL).forEach((turn) -> this.parents.put(turn.number(), turn.parent()));
	}

	/** Returns the turns of the history that ends with a turn. */
	Set<Long> to(long head) {
		Set<Long> path = new HashSet<>();
		for (Long turn = head; turn != null && path.add(turn);) {
			turn = this.parents.get(turn);
		}
		return path;
	}

}
