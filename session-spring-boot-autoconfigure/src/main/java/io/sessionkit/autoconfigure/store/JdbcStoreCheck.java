package io.sessionkit.autoconfigure.store;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

import javax.sql.DataSource;

import io.sessionkit.autoconfigure.ConfigurationRefusedException;
import io.sessionkit.autoconfigure.StoreProperties;
import io.sessionkit.autoconfigure.StoreProperties.Jdbc;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.jdbc.JdbcSessionStore;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

/**
 * Checks at start that the database of the store can be reached, has the tables of this
 * version, and takes what is written to them. Without this check the first turn would
 * fail.
 */
final class JdbcStoreCheck {

	private static final Log logger = LogFactory.getLog(JdbcStoreCheck.class);

	private static final int HSQLDB_DENIED_OR_MISSING = -5501;

	/** A DataSource that the application has made may have properties of its own. */
	static final String URL = "the URL of this DataSource ('spring.datasource.url', unless it has one of its own)";

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
		connect(this.dataSource);
		try {
			store.verifySchema();
		}
		catch (StoreUnavailableException ex) {
			refuseLost(ex);
			throw new ConfigurationRefusedException(String.valueOf(ex.getMessage()),
					isNotGranted(ex) ? grant() : createTables(), ex);
		}
		catch (IllegalStateException ex) {
			throw new ConfigurationRefusedException(String.valueOf(ex.getMessage()),
					"Do what the description says, if it names something to do. Otherwise use another database or other tables, or"
							+ " define a SessionStore bean: with these, the sessions that are there stay where they are, and are not"
							+ " seen.",
					ex);
		}
		checkRights();
		warnOfRouting();
		warnOfExit();
	}

	/**
	 * Refuses tables of which some are gone: sessions whose turns or records are missing
	 * would be answered without them.
	 */
	private void refuseLost(StoreUnavailableException ex) {
		List<String> lost = isNotGranted(ex) ? List.of()
				: new LostTables(this.dataSource, this.jdbc.tablePrefix()).names();
		if (!lost.isEmpty()) {
			throw new ConfigurationRefusedException(
					"Some tables of the sessions are there, but not " + String.join(", ", lost)
							+ ": all were there before. What these held is gone, unless they are there and this user"
							+ " may not read them, which Oracle and HSQLDB report alike.",
					"On Oracle and HSQLDB, first see whether they are there, and grant this user select on them."
							+ " Restore all tables of the sessions from the same backup. Or, to give up all sessions,"
							+ " drop the tables that are left too, and create all of them anew. '"
							+ StoreProperties.INITIALIZE_SCHEMA
							+ "' does not create a single table. The script does if it is run by hand, but empty: the"
							+ " sessions that are there then lack what it held.",
					ex);
		}
	}

	private void warnOfRouting() {
		if (target(this.dataSource) instanceof AbstractRoutingDataSource) {
			logger.warn(
					"Sessions are kept where an AbstractRoutingDataSource leads. SessionKit also uses it on threads of its"
							+ " own, which know no key of a request: see docs/transactions.md.");
		}
	}

	/** Returns the DataSource behind proxies that only pass on to it. */
	static DataSource target(DataSource dataSource) {
		DataSource target = (dataSource instanceof DelegatingDataSource outer) ? outer.getTargetDataSource() : null;
		return (target != null) ? target(target) : dataSource;
	}

	private void warnOfExit() {
		if (H2Exit.closesFile(this.dataSource)) {
			logger.warn("H2 closes the database that sessions are kept in as soon as this process is told to end, while"
					+ " calls are at work: their turns are then neither stored nor handed over. "
					+ (H2Exit.isShared(this.dataSource) ? "Use H2 as a server, and leave AUTO_SERVER out"
							: "Write ';DB_CLOSE_ON_EXIT=FALSE' at the end of its URL, or use H2 as a server")
					+ ": see docs/shutdown.md.");
		}
	}

	/**
	 * Refuses a user who may not write: each turn would pay the model and fail, and
	 * without the right to delete no session would ever go.
	 */
	private void checkRights() {
		List<String> missing = new WriteRights(this.dataSource, tables()).missing();
		if (!missing.isEmpty()) {
			throw new ConfigurationRefusedException(
					"The user of the DataSource that sessions are to be kept in may not " + String.join(", ", missing)
							+ ".",
					grant());
		}
	}

	private List<String> tables() {
		return LostTables.others(this.jdbc.tablePrefix());
	}

	/**
	 * Refuses a database that gives no connection. The store reports a database that is
	 * unreachable in the same way as missing tables, although the remedies differ.
	 */
	static void connect(DataSource dataSource) {
		try (Connection connection = dataSource.getConnection()) {
			SqliteMemory.refuseSeparate(dataSource, connection);
		}
		catch (SQLException | IllegalStateException ex) {
			throw unreachable(ex);
		}
	}

	/**
	 * Returns the exception for a database that gives no connection. The driver's own
	 * message is not passed on, since a URL in it may contain a password.
	 */
	static ConfigurationRefusedException unreachable(Exception ex) {
		return new ConfigurationRefusedException(
				"The DataSource that sessions are to be kept in gave no connection (" + describe(ex) + ").",
				whatToDo(ex) + " With debug=true the log has the driver's own message.", ex);
	}

	/**
	 * Returns the instructions for the user, by the error codes of PostgreSQL, MariaDB
	 * and MySQL, H2, HSQLDB, and SQL Server.
	 */
	private static String whatToDo(Exception ex) {
		if (ex instanceof IllegalStateException) {
			return "It must give one at start, where no request is at work: an AbstractRoutingDataSource needs a default"
					+ " target for that.";
		}
		SQLException sql = refusalIn(ex);
		String state = state(sql);
		int error = (sql != null) ? sql.getErrorCode() : 0;
		if (state.equals("3D000") || error == 1049 || error == 90146 || error == 4060) {
			return "The server has no database of this name: create it, or correct the name at the end of " + URL + ".";
		}
		if (state.startsWith("28") || error == 18456) {
			return "The server refused the user: correct 'spring.datasource.username' and"
					+ " 'spring.datasource.password', or what this DataSource has in their place, or let this user"
					+ " connect.";
		}
		if (error == 90020 || error == -451) {
			return "Another process has the file of the database open: end it, name another file in " + URL
					+ ", or let both reach the database through a server, which is a process of its own (H2: 'jdbc:h2:tcp:').";
		}
		return "Start the database, or correct 'spring.datasource.url', 'spring.datasource.username' and"
				+ " 'spring.datasource.password', or what this DataSource has in their place. The directory of a database"
				+ " in a file must be there.";
	}

	private static Throwable rootOf(Throwable ex) {
		Throwable root = ex;
		while (root.getCause() != null && root.getCause() != root) {
			root = root.getCause();
		}
		return root;
	}

	/**
	 * Returns the innermost exception of the database: below it may be one of the driver,
	 * which has no code.
	 */
	private static @Nullable SQLException refusalIn(Throwable ex) {
		SQLException found = null;
		for (Throwable each = ex; each != null; each = (each.getCause() != each) ? each.getCause() : null) {
			found = (each instanceof SQLException sql) ? sql : found;
		}
		return found;
	}

	private static String state(@Nullable SQLException ex) {
		String state = (ex != null) ? ex.getSQLState() : null;
		return (state != null) ? state : "";
	}

	/** Returns whether there is no schema to create tables in, as PostgreSQL says. */
	static boolean isWithoutSchema(Exception ex) {
		return state(refusalIn(ex)).equals("3F000");
	}

	/**
	 * Returns the class of what has failed, and the SQLSTATE, or the code of the database
	 * if that says nothing.
	 */
	static String describe(Exception ex) {
		SQLException sql = refusalIn(ex);
		String code = (sql != null && sql.getErrorCode() != 0) ? ", error " + sql.getErrorCode() : "";
		String state = state(sql);
		boolean isGeneral = state.isEmpty() || state.equals("HY000");
		return rootOf(ex).getClass().getName() + (state.isEmpty() ? "" : ", SQLSTATE " + state)
				+ (isGeneral ? code : "");
	}

	/**
	 * Returns whether the tables are there but the user may not read them. HSQLDB does
	 * not tell a table that is missing from one that may not be read.
	 */
	static boolean isNotGranted(Exception ex) {
		SQLException sql = refusalIn(ex);
		return sql != null && sql.getErrorCode() != HSQLDB_DENIED_OR_MISSING && isDenied(ex);
	}

	/**
	 * Returns whether the user may not do what was tried on a table that is there, by the
	 * error codes of PostgreSQL, MariaDB and MySQL, H2, HSQLDB, SQL Server, and Oracle.
	 */
	static boolean isDenied(Exception ex) {
		SQLException sql = refusalIn(ex);
		if (sql == null) {
			return false;
		}
		int error = sql.getErrorCode();
		return switch (String.valueOf(sql.getSQLState())) {
			case "42501" -> true;
			case "42000" -> error == 1142 || error == 1044 || error == 1031;
			case "90096" -> true;
			default -> error == 229;
		};
	}

	private String grant() {
		String prefix = this.jdbc.tablePrefix();
		return "Grant this user select, insert, update and delete on the tables " + String.join(", ", tables())
				+ ", and select on " + prefix + "SCHEMA.";
	}

	private String createTables() {
		if (!this.jdbc.hasDefaultPrefix()) {
			return "Run a copy of the script that is named above with '" + this.jdbc.tablePrefix() + "' in place of '"
					+ JdbcSessionStore.DEFAULT_TABLE_PREFIX + "'" + exceptForIndexes() + ", or leave '"
					+ StoreProperties.TABLE_PREFIX + "' out.";
		}
		if (SessionSchemaInitializer.isWanted(this.dataSource, this.jdbc)) {
			return "The script has run, which leaves tables that are there as they are: compare them with it, and add"
					+ " what they lack, or drop them with the sessions in them. If the database is H2 in memory, write"
					+ " ';DB_CLOSE_DELAY=-1' at the end of its URL, so that it outlives a connection.";
		}
		return "Set '" + StoreProperties.INITIALIZE_SCHEMA + "' to 'always', or run the script that is named"
				+ " above with Flyway, Liquibase or by hand.";
	}

	private String exceptForIndexes() {
		String prefix = this.jdbc.tablePrefix();
		int schema = prefix.indexOf('.') + 1;
		return (schema > 0) ? " where that begins the name of a table, and with '" + prefix.substring(schema)
				+ "' where it begins the name of an index, which takes no schema" : "";
	}

}
