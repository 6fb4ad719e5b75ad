package io.sessionkit.internal.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionException;
import io.sessionkit.store.StoreUnavailableException;
import org.jspecify.annotations.Nullable;

/**
 * Finds the meaning of a database failure. Messages of the database, and causes that may
 * quote a value, are not passed on: they can contain text of a session's messages.
 */
public final class SqlErrors {

	/** The state of a connection on which it is unknown how a transaction has ended. */
	private static final String UNKNOWN = "08007";

	/** Stands for the state of a driver that gives none. */
	private static final String NO_STATE = "unknown";

	/**
	 * Serialization failures, deadlocks, and locks that were not granted in time. After
	 * the states common to all (40502 is a wait of HSQLDB that has timed out), those of
	 * databases whose state alone is ambiguous: MariaDB (a row that has changed since it
	 * was read), SQLite (busy, locked), SQL Server (a row that has changed), Oracle
	 * (busy, deadlock, serialization failure).
	 */
	private static final Set<String> CONTENTION = Set.of("40001", "40502", "40P01", "55P03", "HYT00", "90131",
			"HY000/1020", NO_STATE + "/5", NO_STATE + "/6", "S0/3960", "61000/54", "61000/60", "72000/8177");

	/**
	 * Contention too, but after so long a wait that it is not worth waiting again:
	 * MariaDB by its own driver, SQL Server.
	 */
	private static final Set<String> WAITED = Set.of("HY000/1205", "S0/1222");

	/**
	 * Such a wait by the driver of MySQL, which gives it the state of a deadlock. It is
	 * the deadlock of SQL Server.
	 */
	private static final String WAITED_OR_DEADLOCK = "40001/1205";

	/**
	 * Tables or columns that do not exist. After the common states: HSQLDB, SQLite, SQL
	 * Server, Oracle.
	 */
	private static final Set<String> SCHEMA = Set.of("42P01", "42703", "42S02", "42S03", "42S04", "42S22", "3F000",
			"90079", "42501/-5501", NO_STATE + "/1", "S0/207", "S0/208", "42000/904", "42000/942");

	/**
	 * Failures of the connection, or a server that is shutting down. After the common
	 * states: SQLite (no file).
	 */
	private static final Set<String> CONNECTION = Set.of("57P01", "57P02", "57P03", "53300", "90067", "90098", "90121",
			NO_STATE + "/14");

	/**
	 * A transaction or server that only reads. After the common state: H2, MariaDB and
	 * MySQL, SQL Server, Oracle (a transaction, a server), SQLite.
	 */
	private static final Set<String> READ_ONLY = Set.of("25006", "90097", "HY000/1290", "HY000/1836", "S0/3906",
			"72000/1456", "72000/16000", NO_STATE + "/8");

	/**
	 * Statements that were ended before they were done, by a limit or by hand:
	 * PostgreSQL, then MariaDB and MySQL.
	 */
	private static final Set<String> ENDED = Set.of("57014", "70100/1317", "70100/1969");

	/**
	 * Refusals by which the database says that it has undone the statement, beside the
	 * two above: a transaction that has failed before, a right that is missing, a full
	 * disk or memory. After them a statement that the driver of MariaDB has not sent, and
	 * one that a server with a binary log of statements does not take. The store has
	 * undone what it did before in the same access, if anything.
	 */
	private static final Set<String> UNDONE = Set.of("25P02", "42501", "53100", "53200", "HZ000", "HY000/1665");

	/** Duplicate keys. After the common states: SQLite, SQL Server. */
	private static final Set<String> DUPLICATE = Set.of("23505", "23000", NO_STATE + "/19", "S0/2601", "S0/2627");

	/**
	 * The name of a table or column that does not exist, in the messages of the drivers.
	 * It comes from a statement of the store, so it is no text of a session.
	 */
	private static final Pattern NOT_FOUND = Pattern.compile("\\b(?:(?:table|relation|column|object)(?: name)? [\"'`]"
			+ "|(?:table|column|object not found): |column )([\\w.]{1,100})", Pattern.CASE_INSENSITIVE);

	private SqlErrors() {
	}

	/**
	 * Returns whether other writers interfered, so that a second attempt may succeed.
	 * @param connection the connection that failed
	 */
	static boolean mayBeTriedAgain(SQLException ex, Connection connection) {
		return isContention(ex) && (!WAITED_OR_DEADLOCK.equals(state(ex) + "/" + code(ex)) || isDeadlock(connection));
	}

	private static boolean isDeadlock(Connection connection) {
		try {
			return Dialect.of(connection) == Dialect.SQLSERVER;
		}
		catch (SQLException unknown) {
			return false;
		}
	}

	private static boolean isContention(SQLException ex) {
		return isOneOf(CONTENTION, ex);
	}

	/**
	 * Returns whether other writers interfered. The database may have rolled back the
	 * whole transaction then.
	 */
	public static boolean isConflict(SQLException ex) {
		return isContention(ex) || isOneOf(WAITED, ex);
	}

	/**
	 * Returns whether a statement has undone itself by dividing by zero, or has found
	 * that another writer was faster.
	 */
	public static boolean isUndone(SQLException ex) {
		return "22012".equals(state(ex)) || isDuplicateKey(ex);
	}

	/**
	 * Returns whether a statement was ended before it was done. One that contains a
	 * transaction may have been ended behind the commit of that, and a commit when it was
	 * made.
	 */
	static boolean isEnded(SQLException ex) {
		return isOneOf(ENDED, ex);
	}

	/**
	 * Returns the exception for a write of which nobody can say whether it took place.
	 * @param ended the exception of the statement that was ended
	 * @param others those of what was to find out
	 */
	public static SQLException unknown(SQLException ended, SQLException... others) {
		SQLException unknown = new SQLException("It is unknown how a statement has ended.", UNKNOWN,
				withoutValues(ended));
		for (SQLException each : others) {
			unknown.addSuppressed(withoutValues(each));
		}
		return unknown;
	}

	public static boolean isDuplicateKey(SQLException ex) {
		return isOneOf(DUPLICATE, ex);
	}

	/**
	 * Returns the exception for the caller.
	 * @param ex the exception of the driver
	 * @param connection the connection that failed; null if none was available
	 * @param write whether the outcome of a write may be unknown
	 */
	public static SessionException translate(SQLException ex, @Nullable Connection connection, boolean write) {
		if (isConflict(ex)) {
			return conflict(ex);
		}
		if (isOneOf(SCHEMA, ex)) {
			return new StoreUnavailableException(missingTables(ex, connection), withoutValues(ex));
		}
		if (isRefused(ex)) {
			return write ? StoreUnavailableException.unwritten(refusal(ex) + " Nothing was written.", withoutValues(ex))
					: refused(ex);
		}
		return isConnection(ex) ? unreachable(ex, write) : refused(ex);
	}

	/**
	 * Returns the exception for a data source that gave no connection. The text of a pool
	 * or driver is not passed on: a URL in it may have a password.
	 */
	static StoreUnavailableException noConnection(Exception ex, boolean write) {
		String message = "The database of the session store gave no connection (" + cause(ex) + ")."
				+ (isPoolExhausted(ex)
						? " The pool had none free within its time: the database hangs, or the pool is too small." : "")
				+ " Nothing was read or written.";
		return write ? StoreUnavailableException.unwritten(message, ex) : new StoreUnavailableException(message, ex);
	}

	private static String cause(Exception ex) {
		String state = NO_STATE;
		Throwable root = ex;
		for (Throwable each = ex; each != null; each = (each.getCause() != each) ? each.getCause() : null) {
			state = (each instanceof SQLException sql && !state(sql).equals(NO_STATE)) ? state(sql) : state;
			root = each;
		}
		return root.getClass().getName() + (state.equals(NO_STATE) ? "" : ", SQLSTATE " + state);
	}

	/**
	 * Returns whether a pool has waited in vain, as those of HikariCP, DBCP and Tomcat
	 * say it. With a cause they mean that the database has given them none.
	 */
	private static boolean isPoolExhausted(Exception ex) {
		Throwable last = ex;
		while (last.getCause() != null && last.getCause() != last) {
			last = last.getCause();
		}
		return last.getClass() == SQLTransientConnectionException.class || last instanceof NoSuchElementException
				|| last.getClass().getSimpleName().equals("PoolExhaustedException");
	}

	/** Returns whether the database says that it has written nothing. */
	public static boolean isRefused(SQLException ex) {
		return isOneOf(UNDONE, ex) || isOneOf(READ_ONLY, ex) || isOneOf(ENDED, ex);
	}

	private static SessionConflictException conflict(SQLException ex) {
		return new SessionConflictException("Others wrote to the same session at the same moment (SQLSTATE " + state(ex)
				+ "); nothing was changed. Roll back, read it again and retry.", null);
	}

	private static StoreUnavailableException unreachable(SQLException ex, boolean write) {
		String outcome = write
				? " Whether the write took place is unknown: read the session before you write again."
						+ " Committing a turn again with the same id is safe."
				: " Nothing was changed by it; try again later.";
		return new StoreUnavailableException(broken(ex) + outcome, ex);
	}

	private static String broken(SQLException ex) {
		return (ex.getCause() instanceof SQLException ended && isRefused(ended)) ? refusal(ended)
				: "The database of the session store cannot be reached (SQLSTATE " + state(ex) + ").";
	}

	private static StoreUnavailableException refused(SQLException ex) {
		return new StoreUnavailableException(refusal(ex), withoutValues(ex));
	}

	private static String refusal(SQLException ex) {
		return "The database refused a statement of the session store (SQLSTATE " + state(ex) + ", error "
				+ ex.getErrorCode() + ")." + why(ex);
	}

	private static String why(SQLException ex) {
		if (isOneOf(READ_ONLY, ex)) {
			return " The transaction, the connection or the server only reads: write outside of a transaction"
					+ " with readOnly = true, and connect to the primary server.";
		}
		if (isOneOf(ENDED, ex)) {
			return " It was ended before it was done, by statement_timeout (max_statement_time on MariaDB) or by hand.";
		}
		return why(state(ex));
	}

	private static String why(String state) {
		return switch (state) {
			case "25P02" -> " An earlier statement of the transaction has failed, and the database refuses all that"
					+ " follow. Roll back, and do not catch the exception of that statement inside the transaction.";
			case "HZ000" -> " It is larger than max_allowed_packet: raise that on the server.";
			case "26000",
					"42P05" ->
				" A pooler between the store and the database has changed the connection under its"
						+ " prepared statements: set prepareThreshold=0 in the URL, or let the pooler keep them"
						+ " (max_prepared_statements of PgBouncer).";
			default -> "";
		};
	}

	private static String missingTables(SQLException ex, @Nullable Connection connection) {
		String script = "io/sessionkit/store/jdbc/schema-<database>.sql";
		try {
			script = (connection != null) ? Dialect.of(connection).script() : script;
		}
		catch (SQLException unknown) {
			// the generic name of the script will do
		}
		return "The tables of the session store are missing or are not those of this version" + notFound(ex)
				+ ". For the store of the auto-configuration, sessionkit.store.jdbc.initialize-schema=always creates"
				+ " them where there are none; otherwise run " + script
				+ " from the session-core jar, or with a table prefix of your own a copy with that prefix.";
	}

	private static String notFound(SQLException ex) {
		Matcher found = NOT_FOUND.matcher(String.valueOf(ex.getMessage()));
		return found.find() ? " (not found: " + found.group(1) + ")" : "";
	}

	private static boolean isConnection(SQLException ex) {
		return ex instanceof SQLTransientConnectionException || ex instanceof SQLNonTransientConnectionException
				|| ex instanceof SQLRecoverableException || ex instanceof SQLTimeoutException
				|| state(ex).startsWith("08") || isOneOf(CONNECTION, ex);
	}

	/**
	 * Compares by state, or by state and error number. The states of SQL Server all begin
	 * alike and end with digits that do not distinguish errors.
	 */
	private static boolean isOneOf(Set<String> known, SQLException ex) {
		String state = state(ex);
		String kind = state.startsWith("S0") ? "S0" : state;
		return known.contains(state) || known.contains(kind + "/" + code(ex));
	}

	private static int code(SQLException ex) {
		for (SQLException each = ex; each != null; each = each.getNextException()) {
			if (each.getErrorCode() != 0) {
				return each.getErrorCode();
			}
		}
		return (ex.getCause() instanceof SQLException cause && cause != ex) ? code(cause) : 0;
	}

	/**
	 * Returns the first state in the chain: a batch has it in the next exception or the
	 * cause.
	 */
	private static String state(SQLException ex) {
		for (SQLException each = ex; each != null; each = each.getNextException()) {
			if (each.getSQLState() != null && !each.getSQLState().isEmpty()) {
				return each.getSQLState();
			}
		}
		return (ex.getCause() instanceof SQLException cause && cause != ex) ? state(cause) : NO_STATE;
	}

	private static SQLException withoutValues(SQLException ex) {
		SQLException copy = new SQLException("SQLSTATE " + state(ex), state(ex), ex.getErrorCode());
		copy.setStackTrace(ex.getStackTrace());
		return copy;
	}

}
