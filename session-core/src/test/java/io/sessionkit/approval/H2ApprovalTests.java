package io.sessionkit.approval;

import io.sessionkit.store.SessionStore;
import io.sessionkit.test.TestStores;

class H2ApprovalTests extends ApprovalBehaviour {

	private static final SessionStore store = TestStores.H2.create();

	@Override
	protected SessionStore store() {
		return store;
	}

}
