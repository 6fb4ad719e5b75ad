package io.sessionkit.conversation;

class RedisTwoProcessesTests extends TwoProcesses {

	RedisTwoProcessesTests() {
		super(SharedStore.inRedis());
	}

}
