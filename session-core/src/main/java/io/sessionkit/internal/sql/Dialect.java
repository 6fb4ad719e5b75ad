package io.sessionkit.internal.sql;

import java.io.StringReader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import io.sessionkit.internal.row.TurnIds;
import org.jspecify.annotations.Nullable;

/**
 * The databases that the store knows, and the differences in their SQL. Each further
 * database needs one more constant and one more script.
 */
public enum Dialect {

	POSTGRESQL("PostgreSQL", "postgresql", "(cast(extract(epoch from clock_timestamp()) * 1000000 as bigint))") {

		/**
		 * Keeps the statement from raising an error for a duplicate key, which would end
		 * the caller's transaction.
		 */
		@Override
		public String ignoringDuplicates() {
			return "on conflict do nothing";
		}

		@Override
		public String statementTime() {
			return "(cast(extract(epoch from statement_timestamp()) * 1000000 as bigint))";
		}

		@Override
		public String recordSource() {
			return """
					select s.pk, :kind, :id, cast(:first as bigint), :payload, cast(:now as bigint),
						cast(:expires as bigint)
					from {session} s where s.pk = :pk for key share""";
		}

		@Override
		public boolean insertsRecordsOfSessions() {
			return true;
		}

		/**
		 * Returns the clause of a lock that neither waits for nor blocks writes of rows
		 * that refer to this row.
		 */
		@Override
		public String lock() {
			return "for no key update";
		}

		/**
		 * Checks the encoding: a text with other characters would not be stored.
		 * SQL_ASCII has all, but counts bytes: names would be too long for their columns.
		 */
		@Override
		void check(Connection connection) throws SQLException {
			String encoding = String.valueOf(text(connection, "select current_setting('server_encoding')"));
			if (!encoding.equals("UTF8")) {
				throw new IllegalStateException("The PostgreSQL database has the encoding " + encoding
						+ ", in which not each text can be stored. Create the database with encoding 'UTF8'"
						+ " (create database .. encoding 'UTF8' template template0).");
			}
		}

	},

	/**
	 * Pages are written as the standard has them, since some modes know no others. The
	 * time is counted from 1970, because H2 computes an epoch with decimals, which takes
	 * six times as long and allocates twelve times as much.
	 */
	H2("H2", "h2", "datediff(microsecond, timestamp with time zone '1970-01-01 00:00:00+00', current_timestamp)") {

		/**
		 * Checks the mode: in some of them an empty text is null, or a unique key takes
		 * one null only. And the collation: names that differ in case would be the same.
		 */
		@Override
		void check(Connection connection) throws SQLException {
			// in capitals, as H2 has the names whatever it does with those of others
			String settings = "select SETTING_VALUE from INFORMATION_SCHEMA.SETTINGS"
					+ " where SETTING_NAME in ('MODE', 'COLLATION')";
			for (String value : texts(connection, settings)) {
				checkMode(value);
				checkCollation(value);
			}
		}

		private static void checkMode(String mode) {
			if (H2_MODES_OF_OTHER_RULES.contains(mode)) {
				throw new IllegalStateException("The H2 database is in MODE=" + mode
						+ ", which has other rules for nulls than the tables need. Name another mode in its URL,"
						+ " such as MODE=PostgreSQL, or none. All work but Oracle, MSSQLServer and Derby.");
			}
		}

		private static void checkCollation(String collation) {
			if (collation.endsWith(" PRIMARY") || collation.endsWith(" SECONDARY")) {
				throw new IllegalStateException("The H2 database has the collation " + collation
						+ ", to which texts that differ in case are the same. Create the database without a collation,"
						+ " or with one of STRENGTH TERTIARY.");
			}
		}

		@Override
		public String limit(String count) {
			return "fetch first " + count + " rows only";
		}

		@Override
		public String page(String limit, String offset) {
			return "offset " + offset + " rows fetch next " + limit + " rows only";
		}

	},

	MARIADB("MariaDB", "mariadb", Dialect.INNODB_NOW) {

		@Override
		public boolean isInnoDb() {
			return true;
		}

	},

	/** MySQL has compound statements in stored programs only. */
	MYSQL("MySQL", "mysql", Dialect.INNODB_NOW) {

		@Override
		public boolean isInnoDb() {
			return true;
		}

		/**
		 * Returns the id always: only a duplicate key reveals a repeated turn.
		 */
		@Override
		public String givenId(String turn, long number) {
			return turn;
		}

		/**
		 * Returns true: the driver sends the rows of a batch one by one unless the URL
		 * says otherwise.
		 */
		@Override
		public boolean sendsBatchesOneByOne() {
			return true;
		}

	},

	/** The clock of SQLite has milliseconds. */
	SQLITE("SQLite", "sqlite", "(cast(round((julianday('now') - 2440587.5) * 86400000) as integer) * 1000)") {

		@Override
		public boolean locksByWriting() {
			return true;
		}

	},

	HSQLDB("HSQL Database Engine", "hsqldb", """
			(timestampdiff(SQL_TSI_FRAC_SECOND, timestamp '1970-01-01 00:00:00+0:00', current_timestamp) / 1000)""") {

		/** Checks that texts that differ in case are not the same. */
		@Override
		void check(Connection connection) throws SQLException {
			String ignored = text(connection, "select PROPERTY_VALUE from INFORMATION_SCHEMA.SYSTEM_PROPERTIES"
					+ " where PROPERTY_NAME = 'sql.ignore_case'");
			if ("true".equalsIgnoreCase(ignored)) {
				throw new IllegalStateException("The HSQLDB database has sql.ignore_case=true, by which texts that"
						+ " differ in case are the same. Leave it out of the URL, and create the tables without it.");
			}
		}

		@Override
		public boolean locksByWriting() {
			return true;
		}

		@Override
		public String exact(String text) {
			return text + " || '.'";
		}

		@Override
		public String bare(String exact) {
			return "substring(" + exact + " from 1 for char_length(" + exact + ") - 1)";
		}

	},

	SQLSERVER("Microsoft SQL Server", "sqlserver", "datediff_big(microsecond, '1970-01-01', sysutcdatetime())") {

		/**
		 * Checks that readers do not wait for writers: what is stored beside a
		 * transaction of the caller reads the session that this may have written, and
		 * would wait for it without end.
		 */
		@Override
		void check(Connection connection) throws SQLException {
			String snapshots = text(connection,
					"select cast(is_read_committed_snapshot_on as int) from sys.databases where name = db_name()");
			if ("0".equals(snapshots)) {
				throw new IllegalStateException("The SQL Server database has READ_COMMITTED_SNAPSHOT off, by which"
						+ " readers wait for writers, also within one thread. Turn it on:"
						+ " alter database current set read_committed_snapshot on.");
			}
		}

		@Override
		public boolean locksByWriting() {
			return true;
		}

		@Override
		public String exact(String text) {
			return text + " + '.'";
		}

		@Override
		public String bare(String exact) {
			return "substring(" + exact + ", 1, len(" + exact + ") - 1)";
		}

		@Override
		public String limit(String count) {
			return page(count, "0");
		}

		@Override
		public String page(String limit, String offset) {
			return "offset " + offset + " rows fetch next " + limit + " rows only";
		}

	},

	ORACLE("Oracle", "oracle", """
			(select extract(day from c.age) * 86400000000 + trunc((extract(hour from c.age) * 3600 \
			+ extract(minute from c.age) * 60 + extract(second from c.age)) * 1000000) \
			from (select sys_extract_utc(systimestamp) - timestamp '1970-01-01 00:00:00' as age from dual) c)""") {

		@Override
		public String noText() {
			return "to_clob(null)";
		}

		@Override
		public String limit(String count) {
			return "fetch first " + count + " rows only";
		}

		@Override
		public String page(String limit, String offset) {
			return "offset " + offset + " rows fetch next " + limit + " rows only";
		}

		/**
		 * Binds a text of any length. A string of more than 4,000 bytes is allowed in few
		 * places of a statement.
		 */
		@Override
		public void bindText(PreparedStatement statement, int index, @Nullable String text) throws SQLException {
			if (text == null) {
				statement.setNull(index, Types.CLOB);
			}
			else {
				statement.setClob(index, new StringReader(text), text.length());
			}
		}

		/**
		 * Binds a number, or a null of that type. One without a type is a text, which
		 * <code>coalesce</code> and <code>case</code> do not take beside a number.
		 */
		@Override
		public void bindNumber(PreparedStatement statement, int index, @Nullable Long number) throws SQLException {
			if (number == null) {
				statement.setNull(index, Types.NUMERIC);
			}
			else {
				statement.setLong(index, number);
			}
		}

		/** Checks the character set: a text with other characters would be changed. */
		@Override
		void check(Connection connection) throws SQLException {
			String characters = String.valueOf(
					text(connection, "select value from nls_database_parameters where parameter = 'NLS_CHARACTERSET'"));
			if (!CHARACTER_SETS_OF_ALL_TEXTS.contains(characters)) {
				throw new IllegalStateException("The Oracle database has the character set " + characters
						+ ", which lacks characters that messages have. Create the database with the character set"
						+ " AL32UTF8.");
			}
		}

	};

	/** The time in UTC: a local time zone can have the same hour twice. */
	private static final String INNODB_NOW = "timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(6))";

	/** Has three rows if what this connection writes is logged as statements alone. */
	private static final String LOG_OF_STATEMENTS = """
			show variables where variable_name in ('log_bin', 'sql_log_bin') and value = 'ON'
				or variable_name = 'binlog_format' and value = 'STATEMENT'""";

	private static final int HSQLDB_SECONDS = 5;

	private static final Set<String> CHARACTER_SETS_OF_ALL_TEXTS = Set.of("AL32UTF8", "UTF8");

	private static final Set<String> H2_MODES_OF_OTHER_RULES = Set.of("Oracle", "MSSQLServer", "Derby");

	private final String productName;

	private final String scriptId;

	private final String now;

	Dialect(String productName, String scriptId, String now) {
		this.productName = productName;
		this.scriptId = scriptId;
		this.now = now;
	}

	/**
	 * Returns the dialect of the database that a connection leads to.
	 * @param connection a connection to it
	 * @return its dialect
	 * @throws SQLException if the database does not tell its name
	 * @throws IllegalStateException if the database is not one of these
	 */
	public static Dialect of(Connection connection) throws SQLException {
		String product = connection.getMetaData().getDatabaseProductName();
		for (Dialect dialect : values()) {
			if (dialect.productName.equalsIgnoreCase(product)) {
				return dialect;
			}
		}
		String known = Arrays.stream(values()).map((dialect) -> dialect.productName).collect(Collectors.joining(", "));
		throw new IllegalStateException("The session store does not know the database '" + product + "'. Use one of "
				+ known + ", or a SessionStore of your own.");
	}

	/**
	 * Returns the dialect of a database whose settings suit the store.
	 * @param connection a connection to it
	 * @return its dialect
	 * @throws SQLException if the database cannot be asked
	 * @throws IllegalStateException if the database is not one of these, or is set up so
	 * that the store does not work with it
	 */
	public static Dialect checked(Connection connection) throws SQLException {
		Dialect dialect = of(connection);
		dialect.check(connection);
		return dialect;
	}

	/** Checks that the database is set up so that the store works with it. */
	void check(Connection connection) throws SQLException {
		if (isInnoDb() && texts(connection, LOG_OF_STATEMENTS).size() == 3) {
			throw new IllegalStateException("The " + this.productName
					+ " server has binlog_format=STATEMENT, with which"
					+ " InnoDB takes no write of a transaction that is READ COMMITTED, as those are that the store"
					+ " begins on connections with auto-commit. The store is not made for it, with any pool."
					+ " Set it to ROW or MIXED.");
		}
	}

	private static @Nullable String text(Connection connection, String query) throws SQLException {
		List<String> texts = texts(connection, query);
		return texts.isEmpty() ? null : texts.get(0);
	}

	private static List<String> texts(Connection connection, String query) throws SQLException {
		List<String> texts = new ArrayList<>();
		try (Statement statement = connection.createStatement(); ResultSet row = statement.executeQuery(query)) {
			while (row.next()) {
				texts.add(String.valueOf(row.getString(1)));
			}
		}
		return texts;
	}

	/**
	 * Returns the expression for the microseconds since 1970 by the clock of the
	 * database.
	 */
	public String now() {
		return this.now;
	}

	/**
	 * Returns the expression for the same time, but with one value in all places of a
	 * statement, so that an index can be searched with it.
	 */
	public String statementTime() {
		return this.now;
	}

	/** Returns the resource that creates the tables. */
	public String script() {
		return "io/sessionkit/store/jdbc/schema-" + this.scriptId + ".sql";
	}

	/**
	 * Returns whether a record is inserted only if its session exists, and the session
	 * stays until the record is stored. That takes a lock that no turn waits for.
	 */
	public boolean insertsRecordsOfSessions() {
		return false;
	}

	/** Returns the source of the values of a record that is inserted. */
	public String recordSource() {
		return "values (:pk, :kind, {exact :id}, :first, :payload, :now, :expires)";
	}

	/** Returns the end of an insert that writes nothing if the key is taken. */
	public String ignoringDuplicates() {
		return "";
	}

	/**
	 * Returns whether the database usually runs in the process of the application, so
	 * that a statement costs no round trip.
	 */
	public boolean runsInProcess() {
		return this == H2 || this == HSQLDB || this == SQLITE;
	}

	/**
	 * Returns whether one writer keeps all others out of the database until it commits.
	 */
	public boolean hasOneWriter() {
		return this == SQLITE;
	}

	/**
	 * Returns whether a transaction that waits for another one is sometimes not woken
	 * when that one has ended. So the writers of one process should not meet in the
	 * database.
	 */
	public boolean losesWaiters() {
		return this == HSQLDB;
	}

	/**
	 * Returns a statement for a text. Where a transaction could wait forever, statements
	 * have a time limit, and a wait that reaches it counts as one for others who write.
	 */
	PreparedStatement prepare(Connection connection, String text) throws SQLException {
		PreparedStatement statement = connection.prepareStatement(text);
		if (losesWaiters()) {
			statement.setQueryTimeout(HSQLDB_SECONDS);
		}
		return statement;
	}

	/** Returns the end of a select that keeps others from writing the row. */
	public String lock() {
		return locksByWriting() ? "" : "for update";
	}

	/**
	 * Returns whether a select cannot lock, so that the row is locked by writing it
	 * unchanged before it is read.
	 */
	public boolean locksByWriting() {
		return false;
	}

	/**
	 * Returns whether the tables are InnoDB's. InnoDB's default is <code>REPEATABLE
	 * READ</code>. Under it a plain read may return older rows than a locking read, and a
	 * write that finds no row locks the place where the row would be.
	 */
	public boolean isInnoDb() {
		return false;
	}

	/** Returns the first statement of a transaction of several steps; null for none. */
	public @Nullable String beginning() {
		return isInnoDb() ? "set transaction isolation level read committed" : null;
	}

	/**
	 * Returns the id of a turn as the index of ids has it; null if the turn is found by
	 * its number, with which the id begins.
	 */
	public @Nullable String givenId(String turn, long number) {
		return (TurnIds.place(turn) == number) ? null : turn;
	}

	/** Returns whether many rows are better inserted by one statement than by a batch. */
	public boolean sendsBatchesOneByOne() {
		return false;
	}

	/**
	 * Returns the stored form of a text in which trailing spaces count: some databases
	 * compare texts as if these were missing.
	 */
	public String exact(String text) {
		return text;
	}

	/** Returns the text that is stored in that form. */
	public String bare(String exact) {
		return exact;
	}

	/** Returns the null that can be selected instead of a long text. */
	public String noText() {
		return "null";
	}

	/** Returns the end of a select that limits the number of rows. */
	public String limit(String count) {
		return "limit " + count;
	}

	/** Returns the end of a select that returns one page. */
	public String page(String limit, String offset) {
		return "limit " + limit + " offset " + offset;
	}

	/** Binds a text of any length. */
	public void bindText(PreparedStatement statement, int index, @Nullable String text) throws SQLException {
		statement.setObject(index, text);
	}

	/** Binds a number that may be absent. */
	public void bindNumber(PreparedStatement statement, int index, @Nullable Long number) throws SQLException {
		statement.setObject(index, number);
	}

}
