package io.sessionkit.store.jdbc;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

import com.zaxxer.hikari.HikariDataSource;
import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionStoreContract;
import io.sessionkit.store.StoreOptions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;

class HsqldbSessionStoreTests extends SessionStoreContract {

	private static TestDatabase database;

	private static HikariDataSource pool;

	private static SessionStore store;

	@BeforeAll
	static void start() {
		database = TestDatabase.hsqldb("mvcc").created();
		pool = database.pool(8);
		store = new JdbcSessionStore(pool, StoreOptions.of(JsonMessageCodec.create()));
	}

	@AfterAll
	static void stop() {
		pool.close();
	}

	/**
	 * A copy of the files is what a killed process leaves. By default HSQLDB writes them
	 * every half a second.
	 */
	@Test
	void fileHasWhatWasWrittenAfterARestartAndWithoutADelayAfterAKill(@TempDir Path folder) throws Exception {
		SessionKey key = SessionKey.of("t1");
		Path killed = Files.createDirectory(folder.resolve("killed"));
		Path stopped = Files.createDirectory(folder.resolve("stopped"));
		try (HikariDataSource file = file(stopped)) {
			TestDatabase.runScript("hsqldb", file);
			new JdbcSessionStore(file, StoreOptions.of(JsonMessageCodec.create())).add(key,
					List.of(new UserMessage("hello")));
			copy(stopped, killed);
			shutDown(file);
		}
		for (Path left : List.of(stopped, killed)) {
			try (HikariDataSource file = file(left)) {
				SessionStore restarted = new JdbcSessionStore(file, StoreOptions.of(JsonMessageCodec.create()));
				assertThat(restarted.messages(key)).as("%s", left).hasSize(1);
				shutDown(file);
			}
		}
	}

	private static HikariDataSource file(Path folder) {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl("jdbc:hsqldb:file:" + folder.resolve("sessions") + ";hsqldb.write_delay=false");
		pool.setUsername("sa");
		pool.setMaximumPoolSize(2);
		// a connection that the pool adds by itself would open the database behind its
		// shutdown
		pool.setMinimumIdle(0);
		return pool;
	}

	private static void copy(Path from, Path to) throws IOException {
		try (DirectoryStream<Path> files = Files.newDirectoryStream(from, "sessions.{log,properties,script,data}")) {
			for (Path file : files) {
				Files.copy(file, to.resolve(file.getFileName()));
			}
		}
	}

	private static void shutDown(HikariDataSource pool) throws SQLException {
		try (Connection connection = pool.getConnection(); Statement statement = connection.createStatement()) {
			statement.execute("shutdown");
		}
	}

	@Override
	protected SessionStore store() {
		return store;
	}

	@Override
	protected SessionStore another() {
		return new JdbcSessionStore(pool, StoreOptions.of(JsonMessageCodec.create()));
	}

	@Override
	protected int histories() {
		return 20;
	}

	@Override
	protected boolean spoil(SessionKey key) {
		return database.spoil(key);
	}

	@Override
	protected boolean corrupt(SessionKey key, long sequence) {
		return database.corrupt(key, sequence);
	}

	@Override
	protected long leftOf(SessionKey key) {
		return database.leftOf(key);
	}

}
