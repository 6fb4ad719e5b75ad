package io.sessionkit.store.jdbc;

import java.time.Instant;
import java.util.Objects;

import com.zaxxer.hikari.HikariDataSource;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionStoreContract;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.TurnWrite;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The statements and tables of MySQL, on MariaDB, each statement checked against MySQL's
 * grammar first. This is no MySQL, but the same storage engine.
 */
class MariaDbAsMySqlSessionStoreTests extends SessionStoreContract {

	private static TestDatabase database;

	private static HikariDataSource pool;

	private static SessionStore store;

	@BeforeAll
	static void start() {
		database = TestDatabase.mariaDbAsMySql();
		pool = database.pool(8);
		store = new JdbcSessionStore(pool, StoreOptions.of(JsonMessageCodec.create()));
	}

	@AfterAll
	static void stop() {
		pool.close();
	}

	/**
	 * Both drivers lead to a MariaDB, and each calls it by another name. By its own one
	 * the key of ids lacks those that name the number of their turn.
	 */
	@Test
	void turnThatWasStoredWithTheDriverOfMariaDbIsNotStoredAgain() {
		ProductName named = (ProductName) Objects.requireNonNull(((Disguised) database.direct()).getTargetDataSource());
		SessionStore before = JdbcTransactionContract.storeOn(Objects.requireNonNull(named.getTargetDataSource()));
		SessionKey key = SessionKey.of("owner", "moved");
		before.add(key, JdbcTransactionContract.messages("first"));
		TurnWrite turn = new TurnWrite(Turn.builder("2-x", Instant.parse("2026-01-02T03:04:05Z")).build(), 0,
				JdbcTransactionContract.items("second"));
		before.commit(Commit.on(before.find(key).orElseThrow()).turn(turn));
		before.add(key, JdbcTransactionContract.messages("third"));
		CommitResult repeated = store.commit(Commit.on(store.find(key).orElseThrow()).turn(turn));
		assertThat(repeated.outcome()).isEqualTo(CommitResult.Outcome.REPEATED);
		assertThat(repeated.turn()).isEqualTo(2);
		assertThat(store.messages(key)).hasSize(3);
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
