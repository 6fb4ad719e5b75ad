package io.sessionkit.advisor;

import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.InMemorySessionStore;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;

class InMemoryNeighbourFaultsTests extends NeighbourFaults {

	private final SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));

	@Override
	protected SessionStore store() {
		return this.store;
	}

}
