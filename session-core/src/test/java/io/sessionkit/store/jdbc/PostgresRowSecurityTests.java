package io.sessionkit.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.UUID;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.StoreUnavailableException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.core.io.ClassPathResource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests what other roles see of the tables after {@code row-security-postgresql.sql}.
 */
class PostgresRowSecurityTests {

	private static final TestDatabase DATABASE = TestDatabase.postgres().created();

	private static final String READER = "reader_" + UUID.randomUUID().toString().replace("-", "");

	private static final SessionKey ADA = SessionKey.of("ada", "t1");

	private static final SessionKey BOB = SessionKey.of("bob's", "t1");

	private static final SessionKey NOBODY = SessionKey.of("t1");

	private static final StoreOptions OPTIONS = StoreOptions.of(JsonMessageCodec.create());

	private static final List<String> TABLES = List.of("SESSIONKIT_SESSION", "SESSIONKIT_TURN", "SESSIONKIT_ITEM",
			"SESSIONKIT_RECORD");

	private static SessionStore store;

	@BeforeAll
	static void fill() {
		script();
		store = new JdbcSessionStore(DATABASE.direct(), OPTIONS);
		for (SessionKey key : List.of(ADA, BOB, NOBODY)) {
			// too long for the row of its turn, so that it has a row of its own
			store.add(key, JdbcTransactionContract.messages("x".repeat(100_000)));
			store.put(key, RecordWrite.create("note", "n1", "text of " + key.owner()));
		}
		JdbcTemplate sql = DATABASE.sql();
		sql.execute("create role " + READER);
		sql.execute("grant usage on schema public to " + READER);
		TABLES.forEach((table) -> sql.execute("grant select, insert, update, delete on " + table + " to " + READER));
	}

	@AfterAll
	static void dropRole() {
		DATABASE.sql().execute("drop owned by " + READER);
		DATABASE.sql().execute("drop role " + READER);
	}

	@Test
	void ownerOfTheTablesIsNotLimited() {
		assertThat(store.messages(ADA)).hasSize(1);
		assertThat(store.messages(BOB)).hasSize(1);
		assertThat(store.messages(NOBODY)).hasSize(1);
	}

	@Test
	void scriptRunsTwice() throws SQLException {
		script();
		assertThat(rows("ada", "SESSIONKIT_SESSION")).isEqualTo(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "SESSIONKIT_SESSION", "SESSIONKIT_TURN", "SESSIONKIT_ITEM", "SESSIONKIT_RECORD" })
	void readerSeesTheRowsOfTheOwnerThatIsSet(String table) throws SQLException {
		assertThat(rows("ada", table)).isEqualTo(1);
		assertThat(rows("bob's", table)).isEqualTo(1);
		assertThat(rows("Ada", table)).isZero();
		assertThat(rows("carol", table)).isZero();
	}

	@Test
	void readerSeesNothingOfOthersByTheirNumbers() throws SQLException {
		Long bobs = DATABASE.sql()
			.queryForObject("select pk from SESSIONKIT_SESSION where owner = ?", Long.class, BOB.owner());
		Integer seen = asReader("ada", (sql) -> sql
			.queryForObject("select count(*) from SESSIONKIT_RECORD where session_pk = ?", Integer.class, bobs));
		assertThat(seen).isZero();
		List<String> texts = asReader("ada",
				(sql) -> sql.queryForList("select payload from SESSIONKIT_RECORD", String.class));
		assertThat(texts).containsExactly("text of ada");
	}

	@ParameterizedTest
	@ValueSource(strings = { "SESSIONKIT_SESSION", "SESSIONKIT_TURN", "SESSIONKIT_ITEM", "SESSIONKIT_RECORD" })
	void readerSeesNothingWithoutTheSettingAndAfterATransactionThatHadIt(String table) throws SQLException {
		try (Connection connection = DATABASE.direct().getConnection()) {
			JdbcTemplate sql = reader(connection);
			assertThat(count(sql, table)).isZero();
			connection.setAutoCommit(false);
			set(sql, "ada");
			assertThat(count(sql, table)).isEqualTo(1);
			connection.commit();
			assertThat(sql.queryForObject("select current_setting('sessionkit.owner', true)", String.class)).isEmpty();
			assertThat(count(sql, table)).isZero();
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "delete from SESSIONKIT_RECORD", "update SESSIONKIT_SESSION set owner = 'ada'",
			"delete from SESSIONKIT_TURN" })
	void readerChangesNothingWhateverIsGranted(String statement) throws SQLException {
		Integer changed = asReader("ada", (sql) -> sql.update(statement));
		assertThat(changed).isZero();
	}

	@Test
	void readerInsertsNothing() {
		assertThatExceptionOfType(DataAccessException.class)
			.isThrownBy(() -> asReader("ada",
					(sql) -> sql.update("insert into SESSIONKIT_ITEM values (1, 1, 99, 0, 0, 'forged')")))
			.havingRootCause()
			.withMessageContaining("row-level security");
	}

	/** Fails closed: it says so at the first write, and reads nothing before. */
	@Test
	void storeOfARoleWithoutItsOwnPolicyWritesNothing() throws SQLException {
		try (Connection connection = DATABASE.direct().getConnection()) {
			reader(connection);
			SessionStore limited = new JdbcSessionStore(new SingleConnectionDataSource(connection, true), OPTIONS);
			assertThat(limited.messages(ADA)).isEmpty();
			assertThatExceptionOfType(StoreUnavailableException.class)
				.isThrownBy(() -> limited.add(SessionKey.of("ada", "t2"), JdbcTransactionContract.messages("text")));
		}
	}

	@Test
	void storeOfARoleWithItsOwnPolicyWorks() throws SQLException {
		JdbcTemplate owner = DATABASE.sql();
		owner.execute("grant usage on all sequences in schema public to " + READER);
		TABLES.forEach((table) -> owner
			.execute("create policy STORE on " + table + " to " + READER + " using (true) with check (true)"));
		try (Connection connection = DATABASE.direct().getConnection()) {
			reader(connection);
			SessionStore permitted = new JdbcSessionStore(new SingleConnectionDataSource(connection, true), OPTIONS);
			SessionKey key = SessionKey.of("dan", "t1");
			permitted.add(key, JdbcTransactionContract.messages("text"));
			assertThat(permitted.messages(key)).hasSize(1);
			permitted.erase(key);
			assertThat(store.find(key)).isEmpty();
		}
		finally {
			TABLES.forEach((table) -> owner.execute("drop policy STORE on " + table));
		}
	}

	private static void script() {
		new ResourceDatabasePopulator(new ClassPathResource("io/sessionkit/store/jdbc/row-security-postgresql.sql"))
			.execute(DATABASE.direct());
	}

	private static int rows(String owner, String table) throws SQLException {
		return asReader(owner, (sql) -> count(sql, table));
	}

	private static int count(JdbcTemplate sql, String table) {
		return Objects.requireNonNull(sql.queryForObject("select count(*) from " + table, Integer.class));
	}

	private static <T> T asReader(String owner, Work<T> work) throws SQLException {
		try (Connection connection = DATABASE.direct().getConnection()) {
			JdbcTemplate sql = reader(connection);
			connection.setAutoCommit(false);
			set(sql, owner);
			T result = work.with(sql);
			connection.commit();
			return result;
		}
	}

	private static JdbcTemplate reader(Connection connection) {
		JdbcTemplate sql = new JdbcTemplate(new SingleConnectionDataSource(connection, true));
		sql.execute("set role " + READER);
		return sql;
	}

	private static void set(JdbcTemplate sql, String owner) {
		sql.queryForObject("select set_config('sessionkit.owner', ?, true)", String.class, owner);
	}

	private interface Work<T> {

		T with(JdbcTemplate sql);

	}

}
