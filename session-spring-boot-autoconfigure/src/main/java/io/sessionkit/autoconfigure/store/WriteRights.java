package io.sessionkit.autoconfigure.store;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import javax.sql.DataSource;

import io.sessionkit.autoconfigure.ConfigurationRefusedException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Finds out at start whether the user of the database may write to the tables of the
 * store, with statements that change no row. Without this check each turn would pay the
 * model and fail. Whatever else goes wrong with these statements is no reason not to
 * start.
 */
final class WriteRights {

	private static final Log logger = LogFactory.getLog(WriteRights.class);

	/**
	 * A database that takes no writes, by the SQLSTATEs of PostgreSQL and H2, and by
	 * those with the error number of MariaDB and MySQL, SQL Server, Oracle and SQLite.
	 * The store knows the same ones.
	 */
	private static final Set<String> READ_ONLY = Set.of("25006", "90097", "HY000/1290", "HY000/1836", "S0/3906",
			"72000/1456", "72000/16000", "/8");

	private static final String NO_ROW = " where 1 = 0";

	private final DataSource dataSource;

	private final List<String> tables;

	WriteRights(DataSource dataSource, List<String> tables) {
		this.dataSource = dataSource;
		this.tables = tables;
	}

	/**
	 * Returns what the user may not do, as in "delete from SESSIONKIT_TURN".
	 * @return the missing rights; empty if none is missing, or if that cannot be found
	 * out
	 * @throws ConfigurationRefusedException if the database takes no writes at all
	 */
	List<String> missing() {
		List<String> missing = new ArrayList<>();
		try (Connection connection = this.dataSource.getConnection()) {
			// a proxy that has fetched no connection yet knows only what it was told
			// itself
			connection.getMetaData();
			if (connection.isReadOnly()) {
				throw readOnly("the connection is read-only", null);
			}
			for (String table : this.tables) {
				List<String> columns = columns(connection, table);
				String all = String.join(", ", columns);
				probe(connection, "insert into " + table, " (" + all + ") select " + all + " from " + table + NO_ROW,
						missing);
				probe(connection, "update " + table, " set " + columns.get(0) + " = " + columns.get(0) + NO_ROW,
						missing);
				probe(connection, "delete from " + table, NO_ROW, missing);
			}
		}
		catch (SQLException ex) {
			unknown(ex);
		}
		return missing;
	}

	/** Returns the columns of a table to which values can be written. */
	private static List<String> columns(Connection connection, String table) throws SQLException {
		List<String> columns = new ArrayList<>();
		try (Statement statement = connection.createStatement();
				ResultSet none = statement.executeQuery("select * from " + table + NO_ROW)) {
			ResultSetMetaData found = none.getMetaData();
			for (int i = 1; i <= found.getColumnCount(); i++) {
				if (!found.isAutoIncrement(i)) {
					columns.add(found.getColumnName(i));
				}
			}
		}
		return columns;
	}

	private static void probe(Connection connection, String what, String rest, List<String> missing)
			throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.executeUpdate(what + rest);
		}
		catch (SQLException ex) {
			if (isReadOnly(ex)) {
				throw readOnly(JdbcStoreCheck.describe(ex), ex);
			}
			if (JdbcStoreCheck.isDenied(ex)) {
				missing.add(what);
			}
			else {
				unknown(ex);
			}
		}
		finally {
			if (!connection.getAutoCommit()) {
				connection.rollback();
			}
		}
	}

	/** The states of SQL Server all begin alike. */
	private static boolean isReadOnly(SQLException ex) {
		String state = (ex.getSQLState() != null) ? ex.getSQLState() : "";
		String kind = state.startsWith("S0") ? "S0" : state;
		return READ_ONLY.contains(state) || READ_ONLY.contains(kind + "/" + ex.getErrorCode());
	}

	/**
	 * Returns the exception for what takes no writes. A connection that is read-only may
	 * take single statements that write, and refuses transactions that do.
	 */
	private static ConfigurationRefusedException readOnly(String why, @Nullable SQLException ex) {
		return new ConfigurationRefusedException(
				"The database that sessions are to be kept in takes no writes (" + why
						+ "), so turns could not be stored.",
				"Connect to a database that takes writes, and with a DataSource that is not read-only.", ex);
	}

	private static void unknown(SQLException ex) {
		logger.debug("Whether this user may write to all tables is not known: " + JdbcStoreCheck.describe(ex));
	}

}
