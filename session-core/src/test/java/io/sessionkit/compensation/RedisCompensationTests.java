package io.sessionkit.compensation;

import io.sessionkit.store.SessionStore;
import io.sessionkit.test.TestStores;

class RedisCompensationTests extends CompensationBehaviour {

	private static final SessionStore store = TestStores.REDIS.create();

	@Override
	protected SessionStore store() {
		return store;
	}

}
