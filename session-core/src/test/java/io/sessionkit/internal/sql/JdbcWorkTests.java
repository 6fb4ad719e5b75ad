package io.sessionkit.internal.sql;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import io.sessionkit.internal.sql.JdbcWork.Change;
import io.sessionkit.store.StoreUnavailableException;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionSynchronizationUtils;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class JdbcWorkTests {

	private final JdbcDataSource database = new JdbcDataSource();

	@BeforeEach
	void createTable() {
		this.database.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
		new JdbcTemplate(this.database).execute("create table written (id int)");
	}

	/** To return to auto-commit would commit it. */
	@Test
	void whatCannotBeRolledBackIsNotCommitted() {
		JdbcWork work = new JdbcWork(refusing("rollback"));
		String result = work.atomically(null, (connection) -> {
			write(connection, 1);
			return Optional.of(new Change<>("refused", false));
		});
		assertThat(result).isEqualTo("refused");
		assertThat(written()).isEmpty();
	}

	/**
	 * Spring binds that connection, and whoever ends the transaction knows nothing of it.
	 */
	@Test
	void whatACallerWritesInATransactionOfSomethingElseIsNotCommittedWithTheWork() {
		DataSource manual = withoutAutoCommit(this.database);
		JdbcWork work = new JdbcWork(manual);
		inTransactionOfSomethingElse(() -> {
			new JdbcTemplate(manual).update("insert into written values (1)");
			work.writing((connection) -> write(connection, 2));
			assertThat(written()).containsExactly(2);
			work.atomically(null, (connection) -> Optional.of(new Change<>(write(connection, 3), true)));
			work.afterwards((connection) -> write(connection, 4));
		});
		assertThat(written()).containsExactly(2, 3, 4);
	}

	/** A pool of one is enough where each statement is committed. */
	@Test
	void connectionOfACallerThatCommitsByItselfIsUsedInATransactionOfSomethingElse() {
		AtomicInteger taken = new AtomicInteger();
		DataSource counted = new Changed(this.database, (connection) -> {
			taken.incrementAndGet();
			return connection;
		});
		JdbcWork work = new JdbcWork(counted);
		inTransactionOfSomethingElse(() -> {
			new JdbcTemplate(counted).update("insert into written values (1)");
			work.writing((connection) -> write(connection, 2));
			assertThat(work.mayJoin()).isFalse();
		});
		assertThat(written()).containsExactly(1, 2);
		assertThat(taken).hasValue(1);
	}

	/**
	 * A transaction of JTA binds as any other does, and its connections are not committed
	 * alone.
	 */
	@Test
	void workInATransactionThatRefusesCommitsIsNotSaidToBeDone() {
		DataSource ofJta = withoutAutoCommit(refusing("commit"));
		JdbcWork work = new JdbcWork(ofJta);
		inTransactionOfSomethingElse(() -> {
			assertThatExceptionOfType(StoreUnavailableException.class)
				.isThrownBy(() -> work.writing((connection) -> write(connection, 1)))
				.matches((ex) -> !ex.isUnwritten());
			new JdbcTemplate(ofJta).queryForList("select id from written");
			assertThatExceptionOfType(StoreUnavailableException.class)
				.isThrownBy(() -> work.reading((connection) -> 1));
			assertThatExceptionOfType(StoreUnavailableException.class)
				.isThrownBy(() -> work.writing((connection) -> write(connection, 1)))
				.matches((ex) -> !ex.isUnwritten());
		});
	}

	/** The database may have made it by then. */
	@Test
	void commitThatTheDatabaseEndsIsNotSaidToBeUnwritten() {
		JdbcWork work = new JdbcWork(
				withoutAutoCommit(new Changed(this.database, (connection) -> proxy(connection, "commit", () -> {
					throw new SQLException("too slow", "70100", 1969);
				}))));
		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> work.writing((connection) -> write(connection, 1)))
			.withMessageContaining("unknown")
			.matches((ex) -> !ex.isUnwritten());
		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(
					() -> work.atomically(null, (connection) -> Optional.of(new Change<>(write(connection, 2), true))))
			.withMessageContaining("unknown")
			.matches((ex) -> !ex.isUnwritten());
	}

	/** On the connection of the transaction that is over, as a tool does it. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void whatACallerHasWrittenAfterItsTransactionStaysWhereWorkIsRolledBack(boolean autoCommit) {
		DataSource pool = autoCommit ? this.database : withoutAutoCommit(this.database);
		JdbcWork work = new JdbcWork(pool);
		JdbcTemplate caller = new JdbcTemplate(pool);
		transactionOn(pool).executeWithoutResult((status) -> after(() -> {
			caller.update("insert into written values (1)");
			work.atomically(null, (connection) -> Optional.of(new Change<>(write(connection, 2), false)));
			caller.update("insert into written values (3)");
			assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> work.writing((connection) -> {
				write(connection, 4);
				throw new SQLException("not now");
			}));
			work.writing((connection) -> write(connection, 5));
		}));
		assertThat(written()).containsExactly(1, 3, 5);
	}

	@Test
	void transactionsInARowOnAConnectionThatTheCallerHasBoundAreJoined() throws SQLException {
		JdbcWork work = new JdbcWork(this.database);
		try (Connection bound = this.database.getConnection()) {
			TransactionSynchronizationManager.bindResource(this.database, new ConnectionHolder(bound));
			transactionOn(this.database)
				.executeWithoutResult((status) -> work.writing((connection) -> write(connection, 1)));
			transactionOn(this.database).executeWithoutResult((status) -> {
				work.writing((connection) -> write(connection, 2));
				assertThat(work.mayJoin()).isTrue();
				status.setRollbackOnly();
			});
		}
		finally {
			TransactionSynchronizationManager.unbindResourceIfPossible(this.database);
		}
		assertThat(written()).containsExactly(1);
	}

	@Test
	void transactionOnAConnectionThatTheCallerHasBoundIsJoinedBehindOneWithWorkAfterItsCommitAlone()
			throws SQLException {
		JdbcWork work = new JdbcWork(this.database);
		JdbcTemplate caller = new JdbcTemplate(this.database);
		try (Connection bound = this.database.getConnection()) {
			TransactionSynchronizationManager.bindResource(this.database, new ConnectionHolder(bound));
			transactionOn(this.database).executeWithoutResult(
					(status) -> afterCommit(() -> work.writing((connection) -> write(connection, 1))));
			transactionOn(this.database).executeWithoutResult((status) -> {
				caller.update("insert into written values (2)");
				work.writing((connection) -> write(connection, 3));
				assertThat(work.mayJoin()).isTrue();
				status.setRollbackOnly();
			});
		}
		finally {
			TransactionSynchronizationManager.unbindResourceIfPossible(this.database);
		}
		assertThat(written()).containsExactly(1);
	}

	private static void afterCommit(Runnable what) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void afterCommit() {
				what.run();
			}

		});
	}

	/** Spring counts it as a part of the one that is over. */
	@Test
	void workInATransactionThatIsBegunAfterTheEndOfOneThatHadWorkIsCommitted() {
		DataSource manual = withoutAutoCommit(this.database);
		JdbcWork work = new JdbcWork(manual);
		transactionOn(manual).executeWithoutResult((status) -> {
			work.writing((connection) -> write(connection, 1));
			after(() -> transactionOn(manual)
				.executeWithoutResult((inner) -> work.writing((connection) -> write(connection, 2))));
		});
		assertThat(written()).containsExactly(1, 2);
	}

	private static TransactionTemplate transactionOn(DataSource dataSource) {
		return new TransactionTemplate(new DataSourceTransactionManager(dataSource));
	}

	/** What fails there is in a log only. */
	private static void after(Runnable what) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void afterCompletion(int status) {
				what.run();
			}

		});
	}

	@Test
	void deadlockBesideATransactionOfSomethingElseIsTriedAgain() {
		JdbcWork work = new JdbcWork(this.database);
		AtomicInteger attempts = new AtomicInteger();
		inTransactionOfSomethingElse(() -> work.apart().writing((connection) -> {
			if (attempts.incrementAndGet() == 1) {
				throw new SQLException("deadlock", "40001");
			}
			return write(connection, 1);
		}));
		assertThat(written()).containsExactly(1);
	}

	private static void inTransactionOfSomethingElse(Runnable what) {
		TransactionSynchronizationManager.setActualTransactionActive(true);
		TransactionSynchronizationManager.initSynchronization();
		try {
			what.run();
			TransactionSynchronizationUtils.triggerBeforeCompletion();
			TransactionSynchronizationUtils.triggerAfterCompletion(TransactionSynchronization.STATUS_COMMITTED);
		}
		finally {
			TransactionSynchronizationManager.clear();
		}
	}

	private static int write(Connection connection, int id) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			return statement.executeUpdate("insert into written values (" + id + ")");
		}
	}

	private List<Integer> written() {
		return new JdbcTemplate(this.database).queryForList("select id from written order by id", Integer.class);
	}

	/** Its connections roll back when they are closed, as those of a pool. */
	private static DataSource withoutAutoCommit(DataSource target) {
		return new Changed(target, (connection) -> {
			connection.setAutoCommit(false);
			return proxy(connection, "close", () -> connection.rollback());
		});
	}

	/** Connections that refuse a method. */
	private DataSource refusing(String method) {
		return new Changed(this.database, (connection) -> proxy(connection, method, () -> {
			throw new SQLException("not now");
		}));
	}

	/** Does something before a method is called. */
	private static Connection proxy(Connection connection, String method, Before before) {
		return (Connection) Proxy.newProxyInstance(Connection.class.getClassLoader(),
				new Class<?>[] { Connection.class }, (self, called, arguments) -> {
					if (called.getName().equals(method)) {
						before.run();
					}
					try {
						return called.invoke(connection, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getCause();
					}
				});
	}

	/** What is done before. */
	@FunctionalInterface
	private interface Before {

		void run() throws SQLException;

	}

	/** What becomes of a connection. */
	@FunctionalInterface
	private interface Preparation {

		Connection of(Connection connection) throws SQLException;

	}

	/** Connections of another one that something was done with. */
	private static final class Changed extends DelegatingDataSource {

		private final Preparation change;

		Changed(DataSource target, Preparation change) {
			super(target);
			this.change = change;
		}

		@Override
		public Connection getConnection() throws SQLException {
			return this.change.of(super.getConnection());
		}

	}

}
