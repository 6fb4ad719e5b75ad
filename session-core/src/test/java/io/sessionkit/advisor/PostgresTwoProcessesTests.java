package io.sessionkit.advisor;

class PostgresTwoProcessesTests extends TwoProcesses {

	PostgresTwoProcessesTests() {
		super(SharedStore.inPostgres());
	}

}
