package io.sessionkit.approval;

import io.sessionkit.store.SessionStore;
import io.sessionkit.test.TestStores;

class FileApprovalTests extends ApprovalBehaviour {

	private static final SessionStore store = TestStores.FILE.create();

	@Override
	protected SessionStore store() {
		return store;
	}

}
