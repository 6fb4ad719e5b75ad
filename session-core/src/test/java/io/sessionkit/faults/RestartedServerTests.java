package io.sessionkit.faults;

import java.time.Duration;
import java.util.Random;
import java.util.concurrent.TimeUnit;

import io.sessionkit.store.SessionStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A server is killed and comes back while eight callers talk. What it had confirmed is
 * there, where it keeps what it confirms.
 */
@Timeout(3600)
class RestartedServerTests {

	private static final int ACTIONS = 60;

	private static final int LONGEST_REST_MILLIS = 600;

	private static final Duration WAIT = Duration.ofMillis(200);

	/** A server may take seconds to start: one restart will do in the build. */
	private static final int RESTARTS = 1;

	@Test
	void postgresKeepsWhatItConfirmed() throws Exception {
		try (Ways ways = new Ways(); PostgresProcess server = new PostgresProcess()) {
			Ways.withTables(server.database(), "postgresql");
			assertKept("PostgreSQL", server, ways.jdbc(server.database(), 8), ways.jdbc(server.database(), 4));
		}
	}

	@Test
	void mariaDbKeepsWhatItConfirmed() throws Exception {
		try (Ways ways = new Ways(); MariaDbProcess server = new MariaDbProcess()) {
			Ways.withTables(server.database(), "mariadb");
			assertKept("MariaDB", server, ways.jdbc(server.database(), 8), ways.jdbc(server.database(), 4));
		}
	}

	@Test
	void redisKeepsWhatItConfirmedIfItAlwaysWritesThrough() throws Exception {
		try (Ways ways = new Ways(); RedisProcess server = new RedisProcess("appendonly yes", "appendfsync always")) {
			server.start();
			assertKept("Redis", server, ways.lettuce(server.configuration(), "restarted:", Ways.OPTIONS),
					ways.jedis(server.configuration(), "restarted:"));
		}
	}

	/**
	 * The state after a restart is an older one. Threads in it are whole, and callers
	 * that rely on what was forgotten are told.
	 */
	@Test
	void redisThatForgetsLeavesWholeThreads() throws Exception {
		long seed = Workload.seed("Redis that forgets");
		Workload workload = new Workload(seed, Workload.actions(ACTIONS)).waiting(WAIT);
		try (Ways ways = new Ways(); RedisProcess server = new RedisProcess()) {
			server.start();
			Random random = new Random(seed);
			workload.run(ways.lettuce(server.configuration(), "forgetful:", Ways.OPTIONS), (over) -> {
				while (!over.getAsBoolean()) {
					rest(random);
					server.save();
					rest(random);
					server.kill();
					server.start();
				}
			});
			workload.auditWhatIsLeft(ways.jedis(server.configuration(), "forgetful:"));
		}
	}

	private static void assertKept(String what, Server server, SessionStore ours, SessionStore clean) throws Exception {
		long seed = Workload.seed(what + " that restarts");
		Workload workload = new Workload(seed, Workload.actions(ACTIONS)).waiting(WAIT);
		Random random = new Random(seed);
		int[] restarts = { 0 };
		boolean[] atWork = { false };
		workload.run(ours, (over) -> {
			for (; restarts[0] < Workload.actions(RESTARTS) && !over.getAsBoolean(); restarts[0]++) {
				rest(random);
				server.kill();
				atWork[0] |= !over.getAsBoolean();
				rest(random);
				server.start();
			}
		});
		System.out.println(restarts[0] + " restarts");
		// a client may wait and ask again by itself, so that nobody need be told
		assertThat(atWork[0]).as("somebody was at work when the server was killed").isTrue();
		workload.audit(clean);
	}

	private static void rest(Random random) throws InterruptedException {
		TimeUnit.MILLISECONDS.sleep(random.nextInt(LONGEST_REST_MILLIS));
	}

}
