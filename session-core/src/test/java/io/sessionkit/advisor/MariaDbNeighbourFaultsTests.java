package io.sessionkit.advisor;

import io.sessionkit.store.SessionStore;
import io.sessionkit.test.TestStores;

class MariaDbNeighbourFaultsTests extends NeighbourFaults {

	private static final SessionStore store = TestStores.MARIADB.create();

	@Override
	protected SessionStore store() {
		return store;
	}

}
