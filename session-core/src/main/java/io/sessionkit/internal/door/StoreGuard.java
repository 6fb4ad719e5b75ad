package io.sessionkit.internal.door;

import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreLayer;

/**
 * A store with a check of callers around it. SessionKit's own work continues where no
 * caller is known, so it uses the store without the check.
 */
public interface StoreGuard extends StoreLayer {

	/**
	 * Returns the store that a check was put around; the store itself if it has none.
	 */
	static SessionStore unguarded(SessionStore store) {
		return (store instanceof StoreGuard guard) ? guard.layered() : store;
	}

}
