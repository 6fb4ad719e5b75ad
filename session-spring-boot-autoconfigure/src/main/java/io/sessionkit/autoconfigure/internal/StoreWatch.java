package io.sessionkit.autoconfigure.internal;

import io.sessionkit.store.SessionStore;

/**
 * Watches the calls that SessionKit makes on the store. The store that applications
 * inject stays the one that it is.
 */
@FunctionalInterface
public interface StoreWatch {

	/**
	 * Returns a store that does what another one does, and is watched.
	 * @param store the store
	 * @return the watched store
	 */
	SessionStore watched(SessionStore store);

}
