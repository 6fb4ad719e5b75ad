package io.sessionkit.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.Optional;

import javax.sql.DataSource;

import io.sessionkit.SessionConflictException;
import io.sessionkit.StoreUnavailableException;
import io.sessionkit.internal.QuietThread;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Gives work a connection and sees that what it wrote is kept, or gone, as a whole. Takes
 * one connection at a time, so that a pool of one is enough.
 * <p>
 * Inside a transaction of the caller it joins, and leaves the commit to the caller.
 * Outside of one it commits what it did, also where the pool hands out connections
 * without auto-commit: otherwise the pool would roll it back without a word.
 */
final class JdbcWork {

	/** How often work is done again that others were in the way of. */
	private static final int ATTEMPTS = 10;

	private final DataSource dataSource;

	/** Whether it takes connections of its own, whatever the caller has open. */
	private final boolean alone;

	/** Whether an interrupt would close the database for everybody. */
	private volatile boolean uninterrupted;

	JdbcWork(DataSource dataSource) {
		this(unwrapped(dataSource), false);
	}

	private JdbcWork(DataSource dataSource, boolean alone) {
		this.dataSource = dataSource;
		this.alone = alone;
	}

	private static DataSource unwrapped(DataSource dataSource) {
		if (dataSource instanceof TransactionAwareDataSourceProxy proxy && proxy.getTargetDataSource() != null) {
			return unwrapped(proxy.getTargetDataSource());
		}
		return dataSource;
	}

	/**
	 * From now on no interrupt reaches a statement, where it would close the database.
	 */
	void protect(Connection connection) throws SQLException {
		this.uninterrupted = H2Files.closeOnInterrupt(connection);
	}

	private <T extends @Nullable Object> T run(QuietThread.Work<T, SQLException> work) throws SQLException {
		return this.uninterrupted ? QuietThread.call(work) : work.run();
	}

	/**
	 * Returns work outside of any transaction of the caller, on connections of its own:
	 * what it writes stays when the caller rolls back. Inside a transaction each takes a
	 * second connection of the pool while the caller holds one, and nothing is done
	 * again: the caller itself may be in the way.
	 */
	JdbcWork apart() {
		if (!TransactionSynchronizationManager.isActualTransactionActive()) {
			return this;
		}
		JdbcWork apart = new JdbcWork(this.dataSource, true);
		apart.uninterrupted = this.uninterrupted;
		return apart;
	}

	/** Whether it works beside an open transaction of the caller. */
	boolean isApart() {
		return this.alone;
	}

	private int attempts() {
		return this.alone ? 1 : ATTEMPTS;
	}

	/** Something to do with a connection. */
	@FunctionalInterface
	interface Work<T extends @Nullable Object> {

		T on(Connection connection) throws SQLException;

	}

	/**
	 * Something to do with a connection, all of it or nothing. An empty result takes back
	 * what was done, and it is done again: the work has lost a race.
	 */
	@FunctionalInterface
	interface Attempt<T> {

		Optional<Change<T>> on(Connection connection) throws SQLException;

	}

	/**
	 * What an attempt came to.
	 *
	 * @param result the result
	 * @param kept whether what was written is to stay
	 */
	record Change<T>(T result, boolean kept) {
	}

	/**
	 * Work that reads only.
	 */
	<T extends @Nullable Object> T reading(Work<T> work) {
		return single(work, false);
	}

	/**
	 * Work that writes with one statement, which needs no transaction.
	 */
	<T extends @Nullable Object> T writing(Work<T> work) {
		return single(work, true);
	}

	private <T extends @Nullable Object> T single(Work<T> work, boolean write) {
		for (int attempt = 1;; attempt++) {
			Connection connection = connection();
			boolean joined = false;
			try {
				joined = isJoined(connection);
				boolean inside = joined;
				return run(() -> inside ? work.on(connection) : committed(connection, work));
			}
			catch (SQLException ex) {
				if (joined || !SqlErrors.isContention(ex) || attempt == attempts()) {
					throw SqlErrors.translate(ex, connection, write);
				}
			}
			finally {
				DataSourceUtils.releaseConnection(connection, this.dataSource);
			}
		}
	}

	private static <T extends @Nullable Object> T committed(Connection connection, Work<T> work) throws SQLException {
		if (connection.getAutoCommit()) {
			return work.on(connection);
		}
		boolean done = false;
		try {
			T result = work.on(connection);
			connection.commit();
			done = true;
			return result;
		}
		finally {
			if (!done) {
				rollBackQuietly(connection);
			}
		}
	}

	/**
	 * Work that writes with one statement, after what was written before is committed:
	 * inside a transaction of the caller when that has been committed, otherwise now. A
	 * failure is no failure of the caller's transaction, which is over by then.
	 */
	void afterwards(Work<?> work) {
		if (!isBound() || !TransactionSynchronizationManager.isSynchronizationActive()) {
			writing(work);
			return;
		}
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void afterCompletion(int status) {
				if (status == STATUS_COMMITTED) {
					finish(work);
				}
			}

		});
	}

	/**
	 * The connection of a transaction that is over is still bound: nobody else commits.
	 */
	private void finish(Work<?> work) {
		Connection connection = connection();
		try {
			run(() -> {
				work.on(connection);
				if (!connection.getAutoCommit()) {
					connection.commit();
				}
				return null;
			});
		}
		catch (SQLException ex) {
			throw SqlErrors.translate(ex, connection, true);
		}
		finally {
			DataSourceUtils.releaseConnection(connection, this.dataSource);
		}
	}

	/**
	 * Work of several statements, all of them or none: in a transaction of its own, or
	 * behind a savepoint of the caller's.
	 * @param beginning what a transaction that is begun for it begins with; null for
	 * nothing
	 * @throws SessionConflictException if others were in the way each time
	 */
	<T> T atomically(@Nullable String beginning, Attempt<T> attempt) {
		int attempts = attempts();
		for (int i = 1; i <= attempts; i++) {
			Optional<T> result = attempt(beginning, attempt, i == attempts);
			if (result.isPresent()) {
				return result.get();
			}
		}
		throw new SessionConflictException(
				"Others wrote to the session all the time; nothing was changed. Read it again and retry.", null);
	}

	private <T> Optional<T> attempt(@Nullable String beginning, Attempt<T> attempt, boolean last) {
		Connection connection = connection();
		boolean joined = false;
		try {
			joined = isJoined(connection);
			boolean inside = joined;
			return run(() -> inside ? behindSavepoint(connection, attempt)
					: inTransaction(connection, beginning, attempt));
		}
		catch (SQLException ex) {
			if (joined || last || !SqlErrors.isContention(ex)) {
				throw SqlErrors.translate(ex, connection, true);
			}
			return Optional.empty();
		}
		finally {
			DataSourceUtils.releaseConnection(connection, this.dataSource);
		}
	}

	private static <T> Optional<T> inTransaction(Connection connection, @Nullable String beginning, Attempt<T> attempt)
			throws SQLException {
		boolean autoCommit = connection.getAutoCommit();
		if (autoCommit) {
			connection.setAutoCommit(false);
		}
		boolean kept = false;
		try {
			if (autoCommit && beginning != null) {
				execute(connection, beginning);
			}
			Optional<Change<T>> change = attempt.on(connection);
			if (change.isPresent() && change.get().kept()) {
				connection.commit();
				kept = true;
			}
			return change.map(Change::result);
		}
		finally {
			if (!kept) {
				rollBackQuietly(connection);
			}
			if (autoCommit) {
				restoreAutoCommit(connection);
			}
		}
	}

	private static void execute(Connection connection, String sql) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
	}

	private static <T> Optional<T> behindSavepoint(Connection connection, Attempt<T> attempt) throws SQLException {
		Savepoint savepoint = connection.setSavepoint();
		boolean kept = false;
		try {
			Optional<Change<T>> change = attempt.on(connection);
			kept = change.isPresent() && change.get().kept();
			return change.map(Change::result);
		}
		finally {
			if (!kept) {
				rollBackQuietly(connection, savepoint);
			}
			else {
				connection.releaseSavepoint(savepoint);
			}
		}
	}

	// A connection that is only bound for reuse, outside of a transaction, is in
	// auto-commit or waits for somebody to commit: nobody else will.
	private boolean isJoined(Connection connection) throws SQLException {
		return !this.alone && TransactionSynchronizationManager.isActualTransactionActive()
				&& DataSourceUtils.isConnectionTransactional(connection, this.dataSource)
				&& !connection.getAutoCommit();
	}

	/**
	 * Whether somebody has a connection of this data source open around the call. A
	 * transaction of something else has none, and would never commit what it was given.
	 */
	private boolean isBound() {
		return !this.alone && TransactionSynchronizationManager.hasResource(this.dataSource);
	}

	private Connection connection() {
		try {
			return isBound() ? DataSourceUtils.getConnection(this.dataSource) : this.dataSource.getConnection();
		}
		catch (CannotGetJdbcConnectionException | SQLException ex) {
			throw unreachable(ex);
		}
	}

	private static StoreUnavailableException unreachable(Exception ex) {
		return new StoreUnavailableException(
				"The database of the session store gave no connection. Nothing was read or written.", ex);
	}

	// After a failure the first exception counts, and a broken connection is thrown away
	// by its pool.
	private static void rollBackQuietly(Connection connection) {
		try {
			connection.rollback();
		}
		catch (SQLException ex) {
			// as above
		}
	}

	private static void rollBackQuietly(Connection connection, Savepoint savepoint) {
		try {
			connection.rollback(savepoint);
		}
		catch (SQLException ex) {
			// as above
		}
	}

	private static void restoreAutoCommit(Connection connection) {
		try {
			connection.setAutoCommit(true);
		}
		catch (SQLException ex) {
			// as above
		}
	}

}
