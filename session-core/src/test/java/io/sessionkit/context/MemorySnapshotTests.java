package io.sessionkit.context;

import io.sessionkit.store.SessionStore;
import io.sessionkit.test.TestStores;

class MemorySnapshotTests extends SnapshotProperties {

	private static final SessionStore store = TestStores.MEMORY.create();

	@Override
	protected SessionStore store() {
		return store;
	}

	@Override
	protected int threads() {
		return 250;
	}

}
