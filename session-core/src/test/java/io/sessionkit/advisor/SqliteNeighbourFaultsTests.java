package io.sessionkit.advisor;

import io.sessionkit.store.SessionStore;
import io.sessionkit.test.TestStores;

class SqliteNeighbourFaultsTests extends NeighbourFaults {

	private static final SessionStore store = TestStores.SQLITE.create();

	@Override
	protected SessionStore store() {
		return store;
	}

}
