package io.sessionkit.conversation;

import io.sessionkit.store.SessionStore;
import io.sessionkit.test.TestStores;

class MemoryThreadTests extends ThreadProperties {

	private static final SessionStore store = TestStores.MEMORY.create();

	@Override
	protected SessionStore store() {
		return store;
	}

	@Override
	protected int threads() {
		return 300;
	}

}
