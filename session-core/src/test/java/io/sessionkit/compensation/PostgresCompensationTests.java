package io.sessionkit.compensation;

import io.sessionkit.store.SessionStore;
import io.sessionkit.test.TestStores;

class PostgresCompensationTests extends CompensationBehaviour {

	private static final SessionStore store = TestStores.POSTGRESQL.create();

	@Override
	protected SessionStore store() {
		return store;
	}

}
