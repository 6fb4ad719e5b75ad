package io.sessionkit.store.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionStoreContract;
import io.sessionkit.store.StoreOptions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/**
 * The statements and tables of Oracle, on H2 in its Oracle mode, each statement checked
 * against Oracle's grammar first. This is no Oracle: its types, its locks and its planner
 * are not tried.
 */
class H2AsOracleSessionStoreTests extends SessionStoreContract {

	private static TestDatabase database;

	private static HikariDataSource pool;

	private static SessionStore store;

	@BeforeAll
	static void start() {
		database = TestDatabase.h2AsOracle();
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

	/** Others make the many; here each way is to be taken. */
	@Override
	protected int histories() {
		return 20;
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
