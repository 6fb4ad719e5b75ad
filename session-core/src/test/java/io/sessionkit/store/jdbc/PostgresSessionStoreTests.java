package io.sessionkit.store.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionStoreContract;
import io.sessionkit.store.StoreOptions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestReporter;

class PostgresSessionStoreTests extends SessionStoreContract {

	private static TestDatabase database;

	private static HikariDataSource pool;

	private static SessionStore store;

	@BeforeAll
	static void start(TestReporter reporter) {
		database = TestDatabase.postgres().created();
		reporter.publishEntry("server", database.toString());
		pool = database.pool(8);
		store = new JdbcSessionStore(pool, StoreOptions.of(JsonMessageCodec.create()));
	}

	@AfterAll
	static void stop() {
		pool.close();
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
	protected SessionStore restarted() {
		return new JdbcSessionStore(database.direct(), StoreOptions.of(JsonMessageCodec.create()));
	}

	@Override
	protected int histories() {
		return 20;
	}

	@Override
	protected Runnable backup(SessionKey key) {
		return database.backup(key);
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
