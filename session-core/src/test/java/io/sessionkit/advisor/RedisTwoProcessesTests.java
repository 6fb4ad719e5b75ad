package io.sessionkit.advisor;

class RedisTwoProcessesTests extends TwoProcesses {

	RedisTwoProcessesTests() {
		super(SharedStore.inRedis());
	}

}
