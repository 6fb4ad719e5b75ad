package io.sessionkit.conversation;

import io.sessionkit.test.BesideOthers;

@BesideOthers
class PostgresTwoProcessesTests extends TwoProcesses {

	PostgresTwoProcessesTests() {
		super(SharedStore.inPostgres());
	}

}
