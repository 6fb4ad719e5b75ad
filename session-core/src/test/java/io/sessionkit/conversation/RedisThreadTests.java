package io.sessionkit.conversation;

import io.sessionkit.store.SessionStore;
import io.sessionkit.test.TestStores;

class RedisThreadTests extends ThreadProperties {

	private static final SessionStore store = TestStores.REDIS.create();

	@Override
	protected SessionStore store() {
		return store;
	}

	@Override
	protected int threads() {
		return 20;
	}

}
