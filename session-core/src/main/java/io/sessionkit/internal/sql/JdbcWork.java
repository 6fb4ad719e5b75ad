package io.sessionkit.internal.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Optional;
import java.util.Set;

import javax.sql.DataSource;

import io.sessionkit.SessionConflictException;
import io.sessionkit.internal.Uninterrupted;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.ConnectionProxy;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Runs work on a connection and sees that everything it wrote is committed, or nothing.
 * Takes one connection at a time, so that a pool of one is enough.
 * <p>
 * Inside a transaction of the caller it joins, and leaves the commit to the caller.
 * Outside of one it commits what it did, even if the pool hands out connections without
 * auto-commit: otherwise the pool would silently roll it back. If the caller holds such a
 * connection there, it takes a second one, since a commit would store what the caller has
 * written. A transaction whose commit is made is one that it is outside of: on its
 * connection, what the caller has written there is committed before the work begins, so
 * that a rollback takes nothing but the work. If such a transaction only reads, writes
 * need a second connection.
 */
public final class JdbcWork {

	/** The maximum number of attempts if other writers interfere. */
	private static final int ATTEMPTS = 10;

	private final DataSource dataSource;

	private final Beginning beginning;

	private final CallerCommits commits;

	/** If true, it takes its own connections, even if the caller has one open. */
	private final boolean alone;

	/** If true, an interrupt would close the database for all its users. */
	private volatile boolean uninterrupted;

	public JdbcWork(DataSource dataSource) {
		this.dataSource = unwrapped(dataSource);
		this.beginning = new Beginning(this.dataSource);
		this.commits = new CallerCommits(() -> writing((connection) -> 0));
		this.alone = false;
	}

	/** Creates work beside what the caller has open. */
	private JdbcWork(JdbcWork joining) {
		this.dataSource = joining.dataSource;
		this.beginning = joining.beginning;
		this.commits = joining.commits;
		this.alone = true;
		this.uninterrupted = joining.uninterrupted;
	}

	private static DataSource unwrapped(DataSource dataSource) {
		if (dataSource instanceof TransactionAwareDataSourceProxy proxy && proxy.getTargetDataSource() != null) {
			return unwrapped(proxy.getTargetDataSource());
		}
		return dataSource;
	}

	/**
	 * Keeps interrupts away from statements from now on if an interrupt would close the
	 * database.
	 */
	public void protect(Connection connection) throws SQLException {
		this.uninterrupted = H2Files.closeOnInterrupt(connection);
	}

	private <T extends @Nullable Object> T run(Uninterrupted.Work<T, SQLException> work) throws SQLException {
		return this.uninterrupted ? Uninterrupted.call(work) : work.run();
	}

	/**
	 * Returns work outside of any transaction of the caller, on connections of its own:
	 * what it writes stays when the caller rolls back. If the caller has a connection
	 * open in a transaction, each piece of work takes a second one of the pool, and
	 * nothing is retried, because the caller itself may be in the way.
	 */
	public JdbcWork apart() {
		boolean open = TransactionSynchronizationManager.isActualTransactionActive()
				&& TransactionSynchronizationManager.hasResource(this.dataSource) && !isOver();
		return open ? new JdbcWork(this) : this;
	}

	/**
	 * Returns whether work that is done now may join a transaction of the caller.
	 */
	public boolean mayJoin() {
		return !this.alone && TransactionSynchronizationManager.isActualTransactionActive() && isManaged() && !isOver();
	}

	/**
	 * Returns whether a transaction of the caller is bound whose commit is made, so that
	 * nobody commits what is written on its connection.
	 */
	private boolean isOver() {
		Object bound = TransactionSynchronizationManager.getResource(this.dataSource);
		return bound != null && TransactionSynchronizationManager.isActualTransactionActive()
				&& this.commits.isMade(bound);
	}

	/**
	 * Returns what stands for the transaction of the caller that work done now joins: the
	 * same object until that ends.
	 * @return the object; null if it joins none
	 */
	@Nullable Object joined() {
		return mayJoin() ? TransactionSynchronizationManager.getResource(this.dataSource) : null;
	}

	/**
	 * Runs something at the end of a transaction of the caller as if that were over, so
	 * that nothing of it goes to the connection of the transaction.
	 */
	void outside(Runnable what) {
		Object bound = TransactionSynchronizationManager.unbindResourceIfPossible(this.dataSource);
		try {
			what.run();
		}
		finally {
			if (bound != null) {
				TransactionSynchronizationManager.bindResource(this.dataSource, bound);
			}
		}
	}

	/** Returns whether it works beside an open transaction of the caller. */
	public boolean isApart() {
		return this.alone;
	}

	private int attempts() {
		return this.alone ? 1 : ATTEMPTS;
	}

	/**
	 * Returns the connection of an access that has done nothing yet, and that is there: a
	 * proxy that fetches one for the first statement would fail only then, and nobody
	 * could say that nothing was written.
	 * @param write whether it is to write
	 */
	private Connection fetched(boolean write) {
		Connection connection = connection(write);
		boolean fetched = false;
		try {
			if (connection instanceof ConnectionProxy) {
				connection.getMetaData();
			}
			fetched = true;
			return connection;
		}
		catch (SQLException ex) {
			throw SqlErrors.noConnection(ex, write);
		}
		finally {
			if (!fetched) {
				DataSourceUtils.releaseConnection(connection, this.dataSource);
			}
		}
	}

	/** Work to do on a connection. */
	@FunctionalInterface
	public interface Work<T extends @Nullable Object> {

		T on(Connection connection) throws SQLException;

	}

	/**
	 * Work to do on a connection, all of it or nothing. An empty result means that the
	 * work has lost a race: it is rolled back and done again.
	 */
	@FunctionalInterface
	public interface Attempt<T> {

		Optional<Change<T>> on(Connection connection) throws SQLException;

	}

	/**
	 * The result of an attempt.
	 *
	 * @param result the result
	 * @param kept whether to keep what was written
	 */
	public record Change<T>(T result, boolean kept) {
	}

	/**
	 * Runs work that only reads.
	 */
	public <T extends @Nullable Object> T reading(Work<T> work) {
		return single(work, false);
	}

	/**
	 * Runs work that writes with one statement, which needs no transaction.
	 */
	public <T extends @Nullable Object> T writing(Work<T> work) {
		return single(work, true);
	}

	/**
	 * Runs work that writes with one statement, which may undo itself by an error.
	 * @return the result; null if it has undone itself
	 */
	public <T> @Nullable T writingOrUndone(Work<@Nullable T> work) {
		try {
			return this.<@Nullable T>single((connection) -> {
				try {
					return work.on(connection);
				}
				catch (SQLException ex) {
					if (SqlErrors.isUndone(ex)) {
						throw new Undone(ex);
					}
					throw ex;
				}
			}, true);
		}
		catch (Undone ex) {
			return null;
		}
	}

	/** Ends a statement that has undone itself. */
	private static final class Undone extends RuntimeException {

		private static final long serialVersionUID = 1;

		Undone(SQLException cause) {
			super(null, cause, false, false);
		}

	}

	private <T extends @Nullable Object> T single(Work<T> work, boolean write) {
		for (int attempt = 1;; attempt++) {
			Connection connection = fetched(write);
			boolean joined = false;
			try {
				joined = isJoined(connection, write);
				boolean inside = joined;
				settle(connection, inside);
				return run(() -> inside ? work.on(connection) : committed(connection, work));
			}
			catch (SQLException ex) {
				if (joined || !SqlErrors.mayBeTriedAgain(ex, connection) || attempt == attempts()) {
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
			commit(connection);
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
	 * Runs work that writes with one statement, as soon as everything written before is
	 * committed: inside a transaction of the caller after its commit, otherwise now. It
	 * is not run if the caller has gone back to a savepoint before it, as a nested
	 * transaction does. A failure does not affect the caller's transaction, which is over
	 * by then.
	 */
	public void afterwards(Work<?> work) {
		if (!mayJoin()) {
			writing(work);
			return;
		}
		TransactionSynchronizationManager.registerSynchronization(new AfterCommit(work));
	}

	/** Work that waits for the commit of the caller. */
	private final class AfterCommit implements TransactionSynchronization {

		private final Work<?> work;

		/** The savepoints to which the caller can go back without undoing it. */
		private final Set<Object> since = Collections.newSetFromMap(new IdentityHashMap<>());

		private boolean undone;

		AfterCommit(Work<?> work) {
			this.work = work;
		}

		@Override
		public void savepoint(Object savepoint) {
			this.since.add(savepoint);
		}

		@Override
		public void savepointRollback(Object savepoint) {
			this.undone |= !this.since.contains(savepoint);
		}

		@Override
		public void afterCompletion(int status) {
			if (status == STATUS_COMMITTED && !this.undone) {
				writing(this.work);
			}
		}

	}

	/**
	 * Runs work of several statements, all of them or none: in a transaction of its own,
	 * or behind a savepoint in the caller's transaction.
	 * @param beginning the first statement of a transaction that is begun for it; null
	 * for none
	 * @throws SessionConflictException if other writers interfered in each attempt
	 */
	public <T> T atomically(@Nullable String beginning, Attempt<T> attempt) {
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
		Connection connection = fetched(true);
		boolean joined = false;
		try {
			joined = isJoined(connection, true);
			boolean inside = joined;
			settle(connection, inside);
			return run(() -> inside ? behindSavepoint(connection, attempt)
					: inTransaction(connection, beginning, attempt));
		}
		catch (SQLException ex) {
			if (joined || last || !SqlErrors.mayBeTriedAgain(ex, connection)) {
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
				commit(connection);
				kept = true;
			}
			return change.map(Change::result);
		}
		finally {
			boolean isOver = kept || rollBackQuietly(connection);
			// otherwise it would be committed by that
			if (isOver && autoCommit) {
				restoreAutoCommit(connection);
			}
		}
	}

	private static void commit(Connection connection) throws SQLException {
		try {
			connection.commit();
		}
		catch (SQLException ex) {
			throw SqlErrors.isEnded(ex) ? SqlErrors.unknown(ex) : ex;
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
				releaseQuietly(connection, savepoint);
			}
		}
	}

	private boolean isJoined(Connection connection, boolean write) throws SQLException {
		Object transaction = joined();
		if (transaction == null || !DataSourceUtils.isConnectionTransactional(connection, this.dataSource)
				|| connection.getAutoCommit()) {
			return false;
		}
		this.commits.joined(transaction, write);
		return true;
	}

	/**
	 * Commits what is on a connection of the caller, of a transaction that is over. A
	 * tool of the turn that is stored may have written it.
	 */
	private void settle(Connection connection, boolean joined) throws SQLException {
		if (!joined && DataSourceUtils.isConnectionTransactional(connection, this.dataSource)
				&& !connection.getAutoCommit()) {
			this.<@Nullable Object>run(() -> {
				connection.commit();
				return null;
			});
		}
	}

	/**
	 * Returns whether a transaction manager of this data source has bound what is bound
	 * around the call, and will commit it. What Spring binds for reuse in a transaction
	 * of another resource is synchronized with that, but nobody has begun it. A manager
	 * that only exposes its connection, as that of JPA does, neither synchronizes nor
	 * begins it.
	 */
	private boolean isManaged() {
		return TransactionSynchronizationManager.getResource(this.dataSource) instanceof ConnectionHolder holder
				&& (!holder.isSynchronizedWithTransaction() || this.beginning.isMade());
	}

	/** Knows whether what is bound was begun, which its holder tells managers only. */
	private static final class Beginning extends DataSourceTransactionManager {

		private static final long serialVersionUID = 1;

		Beginning(DataSource dataSource) {
			super(dataSource);
		}

		boolean isMade() {
			return isExistingTransaction(doGetTransaction());
		}

	}

	/**
	 * Returns the connection of an access that has done nothing yet.
	 * @param write whether it is to write
	 */
	private Connection connection(boolean write) {
		try {
			Connection bound = bound(write);
			return (bound != null) ? bound : this.dataSource.getConnection();
		}
		catch (CannotGetJdbcConnectionException | SQLException ex) {
			throw SqlErrors.noConnection(ex, write);
		}
	}

	/**
	 * Returns the connection that is bound around the call. One that nobody will commit,
	 * and that does not commit by itself, is left to the caller: a commit on it would
	 * store what the caller has written. So is one that may still be set to only read, of
	 * a transaction that is over, for a write.
	 * @return the connection; null for one of its own
	 */
	private @Nullable Connection bound(boolean write) throws SQLException {
		if (this.alone || !TransactionSynchronizationManager.hasResource(this.dataSource)
				|| write && TransactionSynchronizationManager.isCurrentTransactionReadOnly() && isOver()) {
			return null;
		}
		Connection bound = DataSourceUtils.getConnection(this.dataSource);
		boolean taken = false;
		try {
			taken = isManaged() || bound.getAutoCommit();
			return taken ? bound : null;
		}
		finally {
			if (!taken) {
				DataSourceUtils.releaseConnection(bound, this.dataSource);
			}
		}
	}

	// A broken connection is thrown away by its pool.
	private static boolean rollBackQuietly(Connection connection) {
		try {
			connection.rollback();
			return true;
		}
		catch (SQLException ex) {
			// the first exception counts
			return false;
		}
	}

	private static void rollBackQuietly(Connection connection, Savepoint savepoint) {
		try {
			connection.rollback(savepoint);
		}
		catch (SQLException ex) {
			// the first exception counts
		}
	}

	// It only saves memory, and the drivers of SQL Server and Oracle cannot release one.
	private static void releaseQuietly(Connection connection, Savepoint savepoint) {
		try {
			connection.releaseSavepoint(savepoint);
		}
		catch (SQLException ex) {
			// the savepoint ends with the transaction
		}
	}

	private static void restoreAutoCommit(Connection connection) {
		try {
			connection.setAutoCommit(true);
		}
		catch (SQLException ex) {
			// the pool throws the broken connection away
		}
	}

}
