package io.sessionkit.compensation;

import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;

class MemoryCompensationTests extends CompensationBehaviour {

	private final SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));

	@Override
	protected SessionStore store() {
		return this.store;
	}

}
