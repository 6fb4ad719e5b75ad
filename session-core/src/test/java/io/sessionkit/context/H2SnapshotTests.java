package io.sessionkit.context;

import io.sessionkit.store.SessionStore;
import io.sessionkit.test.TestStores;

class H2SnapshotTests extends SnapshotProperties {

	private static final SessionStore store = TestStores.H2.create();

	@Override
	protected SessionStore store() {
		return store;
	}

	@Override
	protected int threads() {
		return 20;
	}

}
