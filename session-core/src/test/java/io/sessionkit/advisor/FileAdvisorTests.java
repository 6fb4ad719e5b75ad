package io.sessionkit.advisor;

import io.sessionkit.store.SessionStore;
import io.sessionkit.test.TestStores;

class FileAdvisorTests extends SessionAdvisorTests {

	@Override
	protected SessionStore store() {
		return TestStores.FILE.create();
	}

}
