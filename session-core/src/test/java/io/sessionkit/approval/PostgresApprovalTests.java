package io.sessionkit.approval;

import io.sessionkit.store.SessionStore;
import io.sessionkit.test.TestStores;

class PostgresApprovalTests extends ApprovalBehaviour {

	private static final SessionStore store = TestStores.POSTGRESQL.create();

	@Override
	protected SessionStore store() {
		return store;
	}

}
