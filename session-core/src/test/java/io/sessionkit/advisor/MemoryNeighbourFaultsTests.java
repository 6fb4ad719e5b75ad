package io.sessionkit.advisor;

import io.sessionkit.store.SessionStore;
import io.sessionkit.test.TestStores;

class MemoryNeighbourFaultsTests extends NeighbourFaults {

	private static final SessionStore store = TestStores.MEMORY.create();

	@Override
	protected SessionStore store() {
		return store;
	}

}
