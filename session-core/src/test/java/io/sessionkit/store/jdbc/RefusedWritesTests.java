package io.sessionkit.store.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.internal.row.RecordPlace;
import io.sessionkit.internal.sql.Dialect;
import io.sessionkit.internal.sql.Templates;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult.Outcome;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.Window;
import io.sessionkit.test.MariaDbServer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.assertj.core.api.ThrowableAssertAlternative;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * What is said of writes that a database refuses, or for which there is no connection.
 */
class RefusedWritesTests {

	private final SessionKey key = SessionKey.of("owner", "thread");

	private final TestDatabase database = TestDatabase.h2().created();

	private final FewConnections pool = new FewConnections(this.database.direct());

	private final SessionStore store = JdbcTransactionContract.storeOn(this.pool);

	@Test
	void turnForWhichThereIsNoConnectionIsUnwritten() {
		Session header = begun(this.store);
		this.pool.left.set(0);
		assertUnavailable(() -> this.store.commit(Commit.on(header).turn(JdbcTransactionContract.turn("q"))))
			.withMessageContaining("Nothing was read or written")
			.matches(StoreUnavailableException::isUnwritten);
		assertUnavailable(() -> this.store.commit(Commit.on(header).records(one())))
			.matches(StoreUnavailableException::isUnwritten);
		assertUnavailable(() -> this.store.open(this.key, Window.ALL)).matches((ex) -> !ex.isUnwritten());
	}

	/** The pool is asked when there is a statement, which then fails. */
	@Test
	void turnForWhichNoConnectionIsFetchedIsUnwritten() {
		LazyConnectionDataSourceProxy lazy = new LazyConnectionDataSourceProxy(this.pool);
		SessionStore there = JdbcTransactionContract.storeOn(lazy);
		Session header = begun(there);
		this.pool.left.set(0);
		Commit turn = Commit.on(header).turn(JdbcTransactionContract.turn("q"));
		assertUnavailable(() -> there.commit(turn)).withMessageContaining("Nothing was read or written")
			.matches(StoreUnavailableException::isUnwritten);
		assertUnavailable(() -> new TransactionTemplate(new DataSourceTransactionManager(lazy))
			.executeWithoutResult((status) -> there.commit(turn))).matches(StoreUnavailableException::isUnwritten);
		assertUnavailable(() -> there.open(this.key, Window.ALL)).matches((ex) -> !ex.isUnwritten());
		this.pool.left.set(Integer.MAX_VALUE);
		there.commit(turn);
		assertThat(there.messages(this.key)).hasSize(2);
	}

	@Test
	void recordWhoseSessionCannotBeLookedForIsNotSaidToBeUnwritten() {
		begun(this.store);
		this.pool.left.set(0);
		assertUnavailable(() -> this.store.put(this.key, RecordWrite.create("note", "1", "x")))
			.matches(StoreUnavailableException::isUnwritten);
		this.pool.left.set(1);
		assertUnavailable(() -> this.store.put(this.key, RecordWrite.create("note", "1", "x")))
			.withMessageContaining("was stored")
			.withMessageContaining("" + this.key)
			.matches((ex) -> !ex.isUnwritten());
		this.pool.left.set(Integer.MAX_VALUE);
		assertThat(this.store.records(this.key, "note")).hasSize(1);
	}

	@Test
	void sessionIsErasedAlsoIfNobodyCanLookForLateRecords() {
		begun(this.store);
		this.pool.left.set(1);
		this.store.erase(this.key);
		this.pool.left.set(Integer.MAX_VALUE);
		assertThat(this.database.leftOf(this.key)).isZero();
	}

	@Test
	void waitThatPostgresEndsLeavesTheSessionAsItWas() throws SQLException {
		TestDatabase postgres = TestDatabase.postgres().created();
		SessionStore impatient = JdbcTransactionContract
			.storeOn(new WithSetting(postgres.direct(), "set statement_timeout = '300ms'"));
		SessionStore patient = JdbcTransactionContract.storeOn(postgres.direct());
		Session header = begun(patient);
		try (Connection other = postgres.direct().getConnection()) {
			other.setAutoCommit(false);
			other.createStatement().execute("select * from SESSIONKIT_SESSION for update");
			assertUnavailable(() -> impatient.commit(Commit.on(header).turn(JdbcTransactionContract.turn("q"))))
				.withMessageContaining("57014")
				.withMessageContaining("statement_timeout")
				.withMessageContaining("Nothing was written")
				.matches(StoreUnavailableException::isUnwritten);
			other.rollback();
		}
		assertThat(patient.find(this.key)).contains(header);
	}

	/**
	 * The header is written by then, and the turn waits for another one of its number.
	 */
	@Test
	void writeThatMariaDbEndsHalfwayLeavesTheSessionAsItWas() throws SQLException {
		TestDatabase mariaDb = TestDatabase.mariaDb().created();
		DataSource limited = new WithSetting(mariaDb.direct(), "set max_statement_time = 0.3");
		try (HikariDataSource pool = TestDatabase.pool(limited, 1, true);
				Connection other = mariaDb.direct().getConnection()) {
			SessionStore impatient = JdbcTransactionContract.storeOn(pool);
			Session header = begun(impatient);
			other.setAutoCommit(false);
			new JdbcTemplate(new SingleConnectionDataSource(other, true))
				.update("insert into SESSIONKIT_TURN (" + AppendPhrases.TURN_COLUMNS + ") select "
						+ AppendPhrases.TURN_COLUMNS.replace("turn_no, turn_id, given_id", "2, 'other', 'other'")
						+ " from SESSIONKIT_TURN");
			Commit plain = Commit.on(header).turn(JdbcTransactionContract.turn("q"));
			for (Commit commit : List.of(plain, plain.records(one()))) {
				assertUnavailable(() -> impatient.commit(commit)).withMessageContaining("70100")
					.withMessageContaining("max_statement_time")
					.withMessageContaining("Nothing was written")
					.matches(StoreUnavailableException::isUnwritten);
				assertThat(new JdbcTemplate(pool).queryForObject("select @@in_transaction", Integer.class)).isZero();
			}
			other.rollback();
			impatient.add(SessionKey.of("owner", "next"), JdbcTransactionContract.messages("next"));
			assertThat(JdbcTransactionContract.storeOn(mariaDb.direct()).find(this.key)).contains(header);
		}
	}

	/**
	 * By a limit or by hand, or by an error such as too much memory, between two of the
	 * statements that it is made of: its handler does not run then.
	 */
	@ParameterizedTest
	@CsvSource({ "true, true", "true, false", "false, true", "false, false" })
	void writeThatMariaDbEndsBeforeItsCommitLeavesNothingOpen(boolean inside, boolean byError) {
		TestDatabase mariaDb = TestDatabase.mariaDb().created();
		Endless endless = new Endless(mariaDb.direct());
		try (HikariDataSource pool = TestDatabase.pool(endless, 1, true)) {
			SessionStore ended = JdbcTransactionContract.storeOn(pool);
			Session header = begun(ended);
			Commit turn = Commit.on(header).turn(JdbcTransactionContract.turn("q"));
			endless.before("if sk_own then commit;");
			TransactionTemplate transaction = new TransactionTemplate(new DataSourceTransactionManager(pool));
			transaction.setPropagationBehavior(
					inside ? TransactionDefinition.PROPAGATION_REQUIRED : TransactionDefinition.PROPAGATION_NEVER);
			transaction.executeWithoutResult((status) -> {
				if (inside) {
					ended.add(SessionKey.of("owner", "before"), JdbcTransactionContract.messages("before"));
				}
				endless.endsNext(byError);
				assertUnavailable(() -> ended.commit(turn)).withMessageContaining("Nothing was written")
					.matches(StoreUnavailableException::isUnwritten);
			});
			assertThat(new JdbcTemplate(pool).queryForObject("select @@in_transaction", Integer.class)).isZero();
			SessionStore others = JdbcTransactionContract.storeOn(mariaDb.direct());
			assertThat(others.find(this.key)).contains(header);
			assertThat(others.messages(SessionKey.of("owner", "before"))).hasSize(inside ? 1 : 0);
			assertThat(ended.commit(turn).outcome()).isEqualTo(Outcome.COMMITTED);
			assertThat(others.messages(this.key)).hasSize(2);
		}
	}

	@ParameterizedTest
	@CsvSource({ "true, true", "true, false", "false, true", "false, false" })
	void writeThatMariaDbEndsBehindItsCommitIsStored(boolean inside, boolean byError) {
		TestDatabase mariaDb = TestDatabase.mariaDb().created();
		Endless endless = new Endless(mariaDb.direct());
		try (HikariDataSource pool = TestDatabase.pool(endless, 1, true)) {
			SessionStore ended = JdbcTransactionContract.storeOn(pool);
			Commit turn = Commit.on(begun(ended)).turn(JdbcTransactionContract.turn("q"));
			endless.before("select sk_version, sk_turn, sk_items;");
			TransactionTemplate transaction = new TransactionTemplate(new DataSourceTransactionManager(pool));
			transaction.setPropagationBehavior(
					inside ? TransactionDefinition.PROPAGATION_REQUIRED : TransactionDefinition.PROPAGATION_NEVER);
			transaction.executeWithoutResult((status) -> {
				endless.endsNext(byError);
				assertThat(ended.commit(turn).isStored()).isTrue();
				if (inside) {
					assertThatExceptionOfType(TurnInProgressException.class)
						.isThrownBy(() -> ended.checkWritable(this.key, false));
				}
			});
			assertThat(JdbcTransactionContract.storeOn(mariaDb.direct()).messages(this.key)).hasSize(2);
		}
	}

	@Test
	void turnOfAnEarlierTransactionThatIsFoundBehindAnErrorOfMariaDbHasBegunNothing() {
		Endless endless = new Endless(TestDatabase.mariaDb().created().direct());
		try (HikariDataSource pool = TestDatabase.pool(endless, 2, true)) {
			SessionStore ended = JdbcTransactionContract.storeOn(pool);
			Commit turn = Commit.first(this.key).turn(JdbcTransactionContract.turn("q"));
			ended.commit(turn);
			ended.add(this.key, JdbcTransactionContract.messages("second"));
			endless.before("if sk_stored = 0 then");
			JdbcTransactionContract.transactionOn(pool).executeWithoutResult((status) -> {
				endless.endsNext(true);
				assertThat(ended.commit(turn).outcome()).isEqualTo(Outcome.REPEATED);
				assertThat(ended.put(this.key, RecordWrite.create("note", "1", "x"))).isTrue();
			});
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void writeThatMariaDbEndsIsNotSaidToBeUnwrittenIfNobodyCanLookForIt(boolean byError) {
		TestDatabase mariaDb = TestDatabase.mariaDb().created();
		Endless endless = new Endless(mariaDb.direct());
		try (HikariDataSource pool = TestDatabase.pool(endless, 1, true)) {
			SessionStore ended = JdbcTransactionContract.storeOn(pool);
			Commit turn = Commit.on(begun(ended)).turn(JdbcTransactionContract.turn("q"));
			endless.before("select sk_version, sk_turn, sk_items;");
			endless.endsNext(byError);
			endless.refusesThen = "prepareStatement";
			assertUnavailable(() -> ended.commit(turn)).withMessageContaining("unknown")
				.withMessageContaining(byError ? "error 1290" : "max_statement_time")
				.matches((ex) -> !ex.isUnwritten());
			endless.refusesThen = "";
			assertThat(ended.commit(turn).outcome()).isEqualTo(Outcome.REPEATED);
			assertThat(ended.messages(this.key)).hasSize(2);
		}
	}

	/** In the pool, later turns would be stored in its transaction. */
	@Test
	void connectionOnWhichAWriteThatMariaDbEndsCannotBeRolledBackIsAborted() {
		TestDatabase mariaDb = TestDatabase.mariaDb().created();
		Endless endless = new Endless(mariaDb.direct());
		try (HikariDataSource pool = TestDatabase.pool(endless, 1, true)) {
			SessionStore ended = JdbcTransactionContract.storeOn(pool);
			Commit turn = Commit.on(begun(ended)).turn(JdbcTransactionContract.turn("q"));
			endless.before("if sk_own then commit;");
			endless.endsNext(false);
			endless.refusesThen = "createStatement";
			assertUnavailable(() -> ended.commit(turn)).withMessageContaining("unknown")
				.matches((ex) -> !ex.isUnwritten());
			endless.refusesThen = "";
			Awaitility.await()
				.atMost(Duration.ofMinutes(1))
				.ignoreExceptions()
				.untilAsserted(() -> assertThat(ended.commit(turn).isStored()).isTrue());
			assertThat(JdbcTransactionContract.storeOn(mariaDb.direct()).messages(this.key)).hasSize(2);
		}
	}

	/** Too much memory may end one so, with the number of a server that only reads. */
	@Test
	void whatAnyErrorOnMariaDbLeavesOpenIsRolledBack() throws SQLException {
		MariaDbStatements statements = new MariaDbStatements(new Templates(Dialect.MARIADB, Templates.DEFAULT_PREFIX));
		try (Connection connection = TestDatabase.mariaDb().created().direct().getConnection()) {
			JdbcTemplate sql = new JdbcTemplate(new SingleConnectionDataSource(connection, true));
			sql.execute("start transaction");
			assertThat(statements.mayHaveAppended(connection, new SQLException("memory", "HY000", 1290))).isTrue();
			assertThat(sql.queryForObject("select @@in_transaction", Integer.class)).isZero();
		}
	}

	@ParameterizedTest
	@CsvSource({ "set default_transaction_read_only = on, 25006", "set role pg_monitor, 42501" })
	void writeThatPostgresRefusesIsUnwritten(String setting, String state) {
		TestDatabase postgres = TestDatabase.postgres().created();
		Session header = begun(JdbcTransactionContract.storeOn(postgres.direct()));
		new JdbcTemplate(postgres.direct()).execute("grant select on all tables in schema public to pg_monitor");
		SessionStore refused = JdbcTransactionContract.storeOn(new WithSetting(postgres.direct(), setting));
		assertUnavailable(() -> refused.commit(Commit.on(header).turn(JdbcTransactionContract.turn("q"))))
			.withMessageContaining(state)
			.withMessageContaining("Nothing was written")
			.matches(StoreUnavailableException::isUnwritten);
		assertUnavailable(() -> refused.commit(Commit.on(header).records(one())))
			.matches(StoreUnavailableException::isUnwritten);
		assertUnavailable(() -> refused.erase(this.key)).matches(StoreUnavailableException::isUnwritten);
	}

	@Test
	void turnThatIsTooLargeForMariaDbIsUnwritten() {
		MariaDbServer server = MariaDbServer.running();
		String name = server.newDatabase();
		TestDatabase.runScript("mariadb", server.dataSource(name));
		SessionStore limited = JdbcTransactionContract
			.storeOn(server.dataSource(name, server.host(), server.port(), "maxAllowedPacket=100000"));
		Session header = begun(limited);
		Commit large = Commit.on(header).turn(JdbcTransactionContract.turn("x".repeat(200_000)));
		assertUnavailable(() -> limited.commit(large)).withMessageContaining("max_allowed_packet")
			.withMessageContaining("Nothing was written")
			.matches(StoreUnavailableException::isUnwritten);
		assertThat(limited.find(this.key)).contains(header);
		limited.add(this.key, JdbcTransactionContract.messages("second"));
		assertThat(limited.messages(this.key)).hasSize(2);
	}

	@Test
	void placeOfAnotherStoreIsNoPlace() {
		for (String tie : new String[] { "ada t1", "7", "" + (char) 0, "99999999999999999999 x" }) {
			assertThatIllegalArgumentException()
				.isThrownBy(() -> this.store.oldestRecords("approval", new RecordPlace(5, tie).text(), 10))
				.withMessageContaining("There is no place");
		}
		assertThat(this.store.oldestRecords("approval", new RecordPlace(5, "7 x").text(), 10).records()).isEmpty();
	}

	private Session begun(SessionStore there) {
		there.commit(Commit.first(this.key).turn(JdbcTransactionContract.turn("first")));
		return there.find(this.key).orElseThrow();
	}

	private static List<RecordWrite> one() {
		return List.of(RecordWrite.create("note", "1", "x"));
	}

	private static ThrowableAssertAlternative<StoreUnavailableException> assertUnavailable(ThrowingCallable access) {
		return assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(access);
	}

	/**
	 * Connections on which a compound statement does not end at one place, until somebody
	 * ends it by hand, or on which an error ends it there.
	 */
	private static final class Endless extends DelegatingDataSource {

		private final JdbcTemplate sql;

		private volatile String place = "";

		private volatile boolean endsNext;

		private volatile boolean byError;

		/** What its connections refuse when the statement is ended. */
		private volatile String refusesThen = "";

		private volatile boolean ended;

		Endless(DataSource target) {
			super(target);
			this.sql = new JdbcTemplate(target);
		}

		void before(String place) {
			this.place = place;
		}

		void endsNext(boolean byError) {
			this.byError = byError;
			this.endsNext = true;
		}

		@Override
		public Connection getConnection() throws SQLException {
			Connection connection = super.getConnection();
			return (Connection) Proxy.newProxyInstance(Connection.class.getClassLoader(),
					new Class<?>[] { Connection.class }, (self, called, arguments) -> {
						if (this.ended && called.getName().equals(this.refusesThen)) {
							throw new SQLException("too slow", "70100", 1969);
						}
						try {
							return called.invoke(connection, called.getName().equals("prepareStatement")
									? new Object[] { prepared((String) arguments[0]) } : arguments);
						}
						catch (InvocationTargetException ex) {
							throw ex.getCause();
						}
					});
		}

		private String prepared(String text) {
			if (!this.endsNext || !text.contains(this.place)) {
				return text;
			}
			this.endsNext = false;
			this.ended = true;
			if (this.byError) {
				return text.replaceFirst("(?s)declare exit handler.*?resignal;\\s*end;", "")
					.replace(this.place, "signal sqlstate 'HY000' set mysql_errno = 1290;" + this.place);
			}
			CompletableFuture.runAsync(this::end);
			return text.replace(this.place,
					"do get_lock(database(), 0); while true do set sk_seen = 1; end while;" + this.place);
		}

		private void end() {
			Long connection = Awaitility.await()
				.atMost(Duration.ofMinutes(1))
				.until(() -> this.sql.queryForObject("select is_used_lock(database())", Long.class), Objects::nonNull);
			this.sql.execute("kill query " + connection);
		}

	}

	/** A pool that has a few more connections to give. */
	private static final class FewConnections extends DelegatingDataSource {

		private final AtomicInteger left = new AtomicInteger(Integer.MAX_VALUE);

		FewConnections(DataSource target) {
			super(target);
		}

		@Override
		public Connection getConnection() throws SQLException {
			if (this.left.getAndDecrement() <= 0) {
				throw new SQLTransientConnectionException("Connection is not available, request timed out after 250ms");
			}
			return super.getConnection();
		}

	}

}
