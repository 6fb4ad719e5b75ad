package io.sessionkit.approval;

import io.sessionkit.store.SessionStore;
import io.sessionkit.test.TestStores;

class RedisApprovalTests extends ApprovalBehaviour {

	private static final SessionStore store = TestStores.REDIS.create();

	@Override
	protected SessionStore store() {
		return store;
	}

}
