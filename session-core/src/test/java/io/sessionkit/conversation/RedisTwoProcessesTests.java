package io.sessionkit.conversation;

import org.junit.jupiter.api.Order;

@Order(2)
class RedisTwoProcessesTests extends TwoProcesses {

	RedisTwoProcessesTests() {
		super(SharedStore.inRedis());
	}

}
