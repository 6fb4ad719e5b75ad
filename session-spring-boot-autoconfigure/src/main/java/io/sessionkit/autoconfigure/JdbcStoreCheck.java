package io.sessionkit.autoconfigure;

import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import io.sessionkit.StoreUnavailableException;
import io.sessionkit.autoconfigure.StoreProperties.Jdbc;
import io.sessionkit.store.jdbc.JdbcSessionStore;

/**
 * Lets the application start only if the database of its store can be reached and has the
 * tables of this version, rather than fail with the first turn.
 */
final class JdbcStoreCheck {

	private final DataSource dataSource;

	private final Jdbc jdbc;

	JdbcStoreCheck(DataSource dataSource, Jdbc jdbc) {
		this.dataSource = dataSource;
		this.jdbc = jdbc;
	}

	/**
	 * Does nothing if the store can be used.
	 * @throws ConfigurationRefusedException if not
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
	 * The store says the same of a database that is away and of tables that are missing,
	 * and what is to be done differs.
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
	 * The driver's own message is not passed on: a URL in it may hold a password.
	 */
	static ConfigurationRefusedException unreachable(Exception ex) {
		return new ConfigurationRefusedException(
				"The DataSource that sessions are to be kept in gave no connection (" + describe(rootOf(ex)) + ").",
				whatToDo(rootOf(ex)) + " With debug=true the log has the driver's own message.", ex);
	}

	/**
	 * By what servers say: PostgreSQL, MariaDB and MySQL, H2, SQL Server.
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
