package io.sessionkit.conversation;

import io.sessionkit.store.SessionStore;
import io.sessionkit.test.TestStores;

class H2ThreadTests extends ThreadProperties {

	private static final SessionStore store = TestStores.H2.create();

	@Override
	protected SessionStore store() {
		return store;
	}

	@Override
	protected int threads() {
		return 30;
	}

}
