package io.sessionkit.faults;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.TimeUnit;

import io.sessionkit.store.SessionStore;
import io.sessionkit.store.jdbc.JdbcSessionStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A store is full for a while, in the middle of what eight callers say. Of the servers
 * only Redis can be made full and roomy again while it runs; a MariaDB tablespace that is
 * full has no room for what would make some.
 */
@Timeout(3600)
class FullStoreTests {

	private static final int ACTIONS = 25;

	private static final int LONGEST_REST_MILLIS = 150;

	@Test
	void redisThatIsFullRefusesAndLosesNothing() throws Exception {
		try (Ways ways = new Ways(); RedisProcess server = new RedisProcess("maxmemory-policy noeviction")) {
			server.start();
			assertKept("Redis", ways.lettuce(server.configuration(), "full:", Ways.OPTIONS),
					ways.jedis(server.configuration(), "full:"),
					new Limit(() -> server.set("maxmemory", "1"), () -> server.set("maxmemory", "0")));
		}
	}

	/**
	 * The file has as many pages as it has, and no more. Each connection is a new one,
	 * since the limit is one of the connection.
	 */
	@Test
	void sqliteThatIsFullRefusesAndLosesNothing() throws Exception {
		Path directory = Files.createDirectories(Path.of("target", "databases"));
		SQLiteConfig config = new SQLiteConfig();
		config.setJournalMode(SQLiteConfig.JournalMode.WAL);
		config.setBusyTimeout(10_000);
		LimitedSqlite database = new LimitedSqlite(config);
		database.setUrl("jdbc:sqlite:" + Files.createTempDirectory(directory, "full").resolve("sessions.db"));
		Ways.withTables(database, "sqlite");
		try (Ways ways = new Ways()) {
			assertKept("SQLite", new JdbcSessionStore(database, Ways.OPTIONS), ways.jdbc(database, 2),
					new Limit(() -> database.full = true, () -> database.full = false));
		}
	}

	/**
	 * Connections that let the file grow, or do not.
	 */
	private static final class LimitedSqlite extends SQLiteDataSource {

		private volatile boolean full;

		private LimitedSqlite(SQLiteConfig config) {
			super(config);
		}

		@Override
		public Connection getConnection() throws SQLException {
			Connection connection = super.getConnection();
			if (this.full) {
				try (Statement statement = connection.createStatement()) {
					statement.execute("pragma max_page_count = 1");
				}
			}
			return connection;
		}

	}

	private record Limit(Runnable full, Runnable room) {
	}

	private static void assertKept(String what, SessionStore ours, SessionStore clean, Limit limit) throws Exception {
		long seed = Workload.seed(what + " that is full");
		Workload workload = new Workload(seed, Workload.actions(ACTIONS)).waiting(Duration.ofMillis(10));
		Random random = new Random(seed);
		workload.run(ours, (over) -> {
			while (!over.getAsBoolean()) {
				rest(random);
				limit.full().run();
				rest(random);
				limit.room().run();
			}
		});
		limit.room().run();
		workload.audit(clean);
		assertThat(workload.book().outcomes()).containsKey("ask CommitFailedException");
	}

	private static void rest(Random random) throws InterruptedException {
		TimeUnit.MILLISECONDS.sleep(random.nextInt(LONGEST_REST_MILLIS));
	}

}
