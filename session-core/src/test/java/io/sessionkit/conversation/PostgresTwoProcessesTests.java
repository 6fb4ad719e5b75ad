package io.sessionkit.conversation;

class PostgresTwoProcessesTests extends TwoProcesses {

	PostgresTwoProcessesTests() {
		super(SharedStore.inPostgres());
	}

}
