package io.sessionkit.advisor;

import io.sessionkit.store.SessionStore;
import io.sessionkit.test.TestStores;

class FileNeighbourFaultsTests extends NeighbourFaults {

	private static final SessionStore store = TestStores.FILE.create();

	@Override
	protected SessionStore store() {
		return store;
	}

}
