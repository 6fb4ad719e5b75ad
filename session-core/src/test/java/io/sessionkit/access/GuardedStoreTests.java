package io.sessionkit.access;

import java.util.Optional;

import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreLayerContract;

/**
 * The store that callers reach is a layer that passes on every method.
 */
class GuardedStoreTests extends StoreLayerContract {

	@Override
	protected SessionStore layer(SessionStore store) {
		return SessionAccess.of(() -> Optional.of(Caller.server())).guard(store);
	}

}
