package io.sessionkit.faults;

import java.util.UUID;
import java.util.concurrent.TimeUnit;

import io.sessionkit.docs.SimpleSessionStore;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.PostgresServer;
import io.sessionkit.test.RedisServers;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The clock of a process stands still and jumps for hours, whether the store judges by it
 * or by one of its own, which disagrees then.
 */
@Timeout(3600)
class JumpingClockTests {

	private static final int ACTIONS = 60;

	private static final int PERIOD_MILLIS = 100;

	private enum Kind {

		MEMORY, DOCUMENTED, POSTGRESQL, REDIS

	}

	@ParameterizedTest
	@EnumSource
	void nothingIsLostOrDoubledWhereTheClockJumps(Kind kind) throws Exception {
		long seed = Workload.seed("JumpingClockTests, " + kind);
		Workload workload = new Workload(seed, Workload.actions(ACTIONS));
		JumpingClock clock = new JumpingClock(seed);
		try (Ways ways = new Ways()) {
			SessionStore store = store(kind, Ways.OPTIONS.clock(clock), ways);
			workload.run(store, (over) -> {
				while (!over.getAsBoolean()) {
					clock.jump();
					TimeUnit.MILLISECONDS.sleep(PERIOD_MILLIS);
				}
			});
			clock.runOn();
			workload.audit(store);
		}
	}

	private static SessionStore store(Kind kind, StoreOptions options, Ways ways) {
		return switch (kind) {
			case MEMORY -> new InMemorySessionStore(options);
			case DOCUMENTED -> new SimpleSessionStore(options);
			case POSTGRESQL -> {
				PostgresServer server = PostgresServer.running();
				yield ways.jdbc(Ways.withTables(server.dataSource(server.newDatabase()), "postgresql"), 8, options);
			}
			case REDIS ->
				ways.lettuce(RedisServers.alone().configuration(), "clock-" + UUID.randomUUID() + ":", options);
		};
	}

}
