package io.sessionkit.advisor;

import io.sessionkit.store.SessionStore;
import io.sessionkit.test.TestStores;

class RedisClusterNeighbourFaultsTests extends NeighbourFaults {

	private static final SessionStore store = TestStores.REDIS_CLUSTER.create();

	@Override
	protected SessionStore store() {
		return store;
	}

}
