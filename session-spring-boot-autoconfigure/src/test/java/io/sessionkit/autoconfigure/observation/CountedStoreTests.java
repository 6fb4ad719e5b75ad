package io.sessionkit.autoconfigure.observation;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreLayerContract;

/**
 * The store that counts is a layer that passes on every method.
 */
class CountedStoreTests extends StoreLayerContract {

	@Override
	protected SessionStore layer(SessionStore store) {
		return new CountedStore(store, new SimpleMeterRegistry());
	}

}
