package io.sessionkit.conversation;

import org.junit.jupiter.api.Order;

@Order(2)
class PostgresTwoProcessesTests extends TwoProcesses {

	PostgresTwoProcessesTests() {
		super(SharedStore.inPostgres());
	}

}
