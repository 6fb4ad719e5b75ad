package io.sessionkit.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;
import java.util.Set;

import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionException;
import io.sessionkit.StoreUnavailableException;
import org.jspecify.annotations.Nullable;

/**
 * What a failure of the database means. Messages, and causes that may quote a value, are
 * not passed on: there can be text of a message in them.
 */
final class SqlErrors {

	/** Serialization failure, deadlock; a lock that was not given in time. */
	private static final Set<String> CONTENTION = Set.of("40001", "40P01", "55P03", "HYT00", "90131");

	/** Tables or columns that are not there. */
	private static final Set<String> SCHEMA = Set.of("42P01", "42703", "42S02", "42S03", "42S04", "42S22", "3F000",
			"90079");

	/** The connection, or the server on its way down. */
	private static final Set<String> CONNECTION = Set.of("57P01", "57P02", "57P03", "57014", "53300", "90067", "90098",
			"90121");

	private SqlErrors() {
	}

	/**
	 * Whether others were in the way and the same may work when it is done once more.
	 */
	static boolean isContention(SQLException ex) {
		return CONTENTION.contains(state(ex));
	}

	static boolean isDuplicateKey(SQLException ex) {
		return "23505".equals(state(ex)) || "23000".equals(state(ex));
	}

	/**
	 * The exception for the caller.
	 * @param ex what the driver threw
	 * @param connection where; null if there was none to be had
	 * @param write whether the outcome of a write may be unknown
	 */
	static SessionException translate(SQLException ex, @Nullable Connection connection, boolean write) {
		if (isContention(ex)) {
			return new SessionConflictException("Others wrote to the same session at the same moment (SQLSTATE "
					+ state(ex) + "); nothing was changed. Roll back, read it again and retry.", null);
		}
		if (SCHEMA.contains(state(ex))) {
			return new StoreUnavailableException(missingTables(connection), withoutValues(ex));
		}
		if (isConnection(ex)) {
			return new StoreUnavailableException("The database of the session store cannot be reached (SQLSTATE "
					+ state(ex) + ")." + (write ? " Whether the write took place is unknown;"
							+ " committing the same turn id again is safe." : ""),
					ex);
		}
		return new StoreUnavailableException("The database refused a statement of the session store (SQLSTATE "
				+ state(ex) + ", error " + ex.getErrorCode() + ").", withoutValues(ex));
	}

	static String missingTables(@Nullable Connection connection) {
		String script = "io/sessionkit/store/jdbc/schema-<database>.sql";
		try {
			script = (connection != null) ? Dialect.of(connection).script() : script;
		}
		catch (SQLException ex) {
			// the general name will do
		}
		return "The tables of the session store are missing or are not those of this version."
				+ " Set sessionkit.store.jdbc.initialize-schema=always, or run " + script
				+ " from the session-core jar; with a table prefix of your own, run a copy with that prefix.";
	}

	private static boolean isConnection(SQLException ex) {
		return ex instanceof SQLTransientConnectionException || ex instanceof SQLNonTransientConnectionException
				|| ex instanceof SQLRecoverableException || ex instanceof SQLTimeoutException
				|| state(ex).startsWith("08") || CONNECTION.contains(state(ex));
	}

	/**
	 * The first state of the chain: a batch has it in the next exception or the cause.
	 */
	private static String state(SQLException ex) {
		for (SQLException each = ex; each != null; each = each.getNextException()) {
			if (each.getSQLState() != null && !each.getSQLState().isEmpty()) {
				return each.getSQLState();
			}
		}
		return (ex.getCause() instanceof SQLException cause && cause != ex) ? state(cause) : "unknown";
	}

	private static SQLException withoutValues(SQLException ex) {
		SQLException copy = new SQLException("SQLSTATE " + state(ex), state(ex), ex.getErrorCode());
		copy.setStackTrace(ex.getStackTrace());
		return copy;
	}

}
