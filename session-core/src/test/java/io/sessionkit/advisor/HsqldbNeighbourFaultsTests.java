package io.sessionkit.advisor;

import io.sessionkit.store.SessionStore;
import io.sessionkit.test.TestStores;

class HsqldbNeighbourFaultsTests extends NeighbourFaults {

	private static final SessionStore store = TestStores.HSQLDB.create();

	@Override
	protected SessionStore store() {
		return store;
	}

}
