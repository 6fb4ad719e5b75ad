package io.sessionkit.autoconfigure.store;

import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import io.sessionkit.autoconfigure.ConfigurationRefusedException;
import io.sessionkit.autoconfigure.StoreProperties;
import io.sessionkit.autoconfigure.StoreProperties.Jdbc;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.jdbc.JdbcSessionStore;

/**
 * Checks at start that the database of the store can be reached and has the tables of
 * this version. Without this check the first turn would fail.
 */
final class JdbcStoreCheck {

	private final DataSource dataSource;

	private final Jdbc jdbc;

	JdbcStoreCheck(DataSource dataSource, Jdbc jdbc) {
		this.dataSource = dataSource;
		this.jdbc = jdbc;
	}

	/**
	 * Checks that the store can be used.
	 * @throws ConfigurationRefusedException if it cannot be used
	 */
	void check(JdbcSessionStore store) {
		connect();
		try {
			store.verifySchema();
		}
		catch (StoreUnavailableException ex) {
			throw new ConfigurationRefusedException(String.valueOf(ex.getMessage()), createTables(), ex);
		}
		catch (IllegalStateException ex) {
			throw new ConfigurationRefusedException(String.valueOf(ex.getMessage()),
					"Use another database or other tables, or define a SessionStore bean.", ex);
		}
	}

	/**
	 * Refuses a database that gives no connection. The store reports a database that is
	 * unreachable in the same way as missing tables, although the remedies differ.
	 */
	private void connect() {
		try (Connection connection = this.dataSource.getConnection()) {
			connection.getMetaData();
		}
		catch (SQLException ex) {
			throw unreachable(ex);
		}
	}

	/**
	 * Returns the exception for a database that gives no connection. The driver's own
	 * message is not passed on, since a URL in it may contain a password.
	 */
	static ConfigurationRefusedException unreachable(Exception ex) {
		return new ConfigurationRefusedException(
				"The DataSource that sessions are to be kept in gave no connection (" + describe(rootOf(ex)) + ").",
				whatToDo(rootOf(ex)) + " With debug=true the log has the driver's own message.", ex);
	}

	/**
	 * Returns the instructions for the user, by the error codes of PostgreSQL, MariaDB
	 * and MySQL, H2, and SQL Server.
	 */
	private static String whatToDo(Throwable root) {
		String state = (root instanceof SQLException sql && sql.getSQLState() != null) ? sql.getSQLState() : "";
		int error = (root instanceof SQLException sql) ? sql.getErrorCode() : 0;
		if (state.equals("3D000") || error == 1049 || error == 90146 || error == 4060) {
			return "The server has no database of this name: create it, or correct the name at the end of"
					+ " 'spring.datasource.url'.";
		}
		if (state.startsWith("28") || error == 18456) {
			return "The server refused the user: correct 'spring.datasource.username' and"
					+ " 'spring.datasource.password', or let this user connect.";
		}
		return "Start the database, or correct 'spring.datasource.url', 'spring.datasource.username' and"
				+ " 'spring.datasource.password'.";
	}

	private static Throwable rootOf(Throwable ex) {
		Throwable root = ex;
		while (root.getCause() != null && root.getCause() != root) {
			root = root.getCause();
		}
		return root;
	}

	private static String describe(Throwable root) {
		return root.getClass().getName()
				+ ((root instanceof SQLException sql) ? ", SQLSTATE " + sql.getSQLState() : "");
	}

	private String createTables() {
		if (this.jdbc.hasDefaultPrefix()) {
			return "Set '" + StoreProperties.INITIALIZE_SCHEMA + "' to 'always', or run the script that is named"
					+ " above with Flyway, Liquibase or by hand.";
		}
		return "Run a copy of the script that is named above with '" + this.jdbc.tablePrefix() + "' in place of '"
				+ JdbcSessionStore.DEFAULT_TABLE_PREFIX + "', or leave '" + StoreProperties.TABLE_PREFIX + "' out.";
	}

}
