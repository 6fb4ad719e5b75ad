package io.sessionkit.conversation;

import io.sessionkit.test.BesideOthers;

@BesideOthers
class RedisTwoProcessesTests extends TwoProcesses {

	RedisTwoProcessesTests() {
		super(SharedStore.inRedis());
	}

}
