package io.sessionkit.store.jdbc;

import java.io.StringReader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.util.Arrays;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * The databases that the store knows, and where their SQL differs. One more database is
 * one more constant and one more script.
 */
enum Dialect {

	POSTGRESQL("PostgreSQL", "postgresql", "(cast(extract(epoch from clock_timestamp()) * 1000000 as bigint))") {

		/**
		 * A duplicate key is an error that ends the caller's transaction, so there must
		 * be none.
		 */
		@Override
		String ignoringDuplicates() {
			return "on conflict do nothing";
		}

		@Override
		String statementTime() {
			return "(cast(extract(epoch from statement_timestamp()) * 1000000 as bigint))";
		}

		@Override
		String recordSource() {
			return """
					select s.pk, :kind, :id, cast(:first as bigint), :payload, cast(:now as bigint),
						cast(:expires as bigint)
					from {session} s where s.pk = :pk for key share""";
		}

		@Override
		boolean insertsRecordsOfSessions() {
			return true;
		}

		/** Does not wait for, nor stop, those who only refer to the row. */
		@Override
		String lock() {
			return "for no key update";
		}

		@Override
		HotStatements hot(Templates templates) {
			return new PostgresStatements(templates);
		}

	},

	H2("H2", "h2", "(cast(extract(epoch from current_timestamp) * 1000000 as bigint))"),

	MARIADB("MariaDB", "mariadb", Dialect.INNODB_NOW) {

		@Override
		boolean isInnoDb() {
			return true;
		}

		@Override
		HotStatements hot(Templates templates) {
			return new MariaDbStatements(templates);
		}

	},

	/** Has compound statements in stored programs only. */
	MYSQL("MySQL", "mysql", Dialect.INNODB_NOW) {

		@Override
		boolean isInnoDb() {
			return true;
		}

		/** Its driver sends a batch one by one unless the URL says otherwise. */
		@Override
		boolean sendsBatchesOneByOne() {
			return true;
		}

	},

	/** Its clock has milliseconds. */
	SQLITE("SQLite", "sqlite", "(cast(round((julianday('now') - 2440587.5) * 86400000) as integer) * 1000)") {

		@Override
		boolean locksByWriting() {
			return true;
		}

	},

	HSQLDB("HSQL Database Engine", "hsqldb", """
			(timestampdiff(SQL_TSI_FRAC_SECOND, timestamp '1970-01-01 00:00:00+0:00', current_timestamp) / 1000)""") {

		@Override
		boolean locksByWriting() {
			return true;
		}

		@Override
		String exact(String text) {
			return text + " || '.'";
		}

		@Override
		String bare(String exact) {
			return "substring(" + exact + " from 1 for char_length(" + exact + ") - 1)";
		}

	},

	SQLSERVER("Microsoft SQL Server", "sqlserver", "datediff_big(microsecond, '1970-01-01', sysutcdatetime())") {

		@Override
		boolean locksByWriting() {
			return true;
		}

		@Override
		String exact(String text) {
			return text + " + '.'";
		}

		@Override
		String bare(String exact) {
			return "substring(" + exact + ", 1, len(" + exact + ") - 1)";
		}

		@Override
		String limit(String count) {
			return page(count, "0");
		}

		@Override
		String page(String limit, String offset) {
			return "offset " + offset + " rows fetch next " + limit + " rows only";
		}

	},

	ORACLE("Oracle", "oracle", """
			(select extract(day from c.age) * 86400000000 + trunc((extract(hour from c.age) * 3600 \
			+ extract(minute from c.age) * 60 + extract(second from c.age)) * 1000000) \
			from (select sys_extract_utc(systimestamp) - timestamp '1970-01-01 00:00:00' as age from dual) c)""") {

		@Override
		String noText() {
			return "to_clob(null)";
		}

		@Override
		String limit(String count) {
			return "fetch first " + count + " rows only";
		}

		@Override
		String page(String limit, String offset) {
			return "offset " + offset + " rows fetch next " + limit + " rows only";
		}

		/** A string of more than 4,000 bytes may stand in few places of a statement. */
		@Override
		void bindText(PreparedStatement statement, int index, @Nullable String text) throws SQLException {
			if (text == null) {
				statement.setNull(index, Types.CLOB);
			}
			else {
				statement.setClob(index, new StringReader(text), text.length());
			}
		}

	};

	/** In UTC: a time zone of the session can have an hour twice. */
	private static final String INNODB_NOW = "timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(6))";

	private final String productName;

	private final String scriptId;

	private final String now;

	Dialect(String productName, String scriptId, String now) {
		this.productName = productName;
		this.scriptId = scriptId;
		this.now = now;
	}

	/**
	 * The dialect of the database at the other end.
	 * @param connection a connection to it
	 * @return its dialect
	 * @throws SQLException if the database does not say what it is
	 * @throws IllegalStateException if the database is not one of these
	 */
	static Dialect of(Connection connection) throws SQLException {
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

	/** Microseconds since 1970 by the clock of the database. */
	String now() {
		return this.now;
	}

	/**
	 * The same, and one moment in all places of a statement, which an index can be
	 * searched with.
	 */
	String statementTime() {
		return this.now;
	}

	/** The resource that creates the tables. */
	String script() {
		return "io/sessionkit/store/jdbc/schema-" + this.scriptId + ".sql";
	}

	/** What is done for every turn. */
	HotStatements hot(Templates templates) {
		return new PortableStatements(templates);
	}

	/**
	 * Whether a record is inserted only if its session is there, and stays there until
	 * the record is stored. That takes a lock that no turn waits for.
	 */
	boolean insertsRecordsOfSessions() {
		return false;
	}

	/** Where a record that is inserted takes its values from. */
	String recordSource() {
		return "values (:pk, :kind, {exact :id}, :first, :payload, :now, :expires)";
	}

	/** What an insert ends with that is to write nothing where the key is taken. */
	String ignoringDuplicates() {
		return "";
	}

	/** What a select ends with that is to keep others from writing the row. */
	String lock() {
		return locksByWriting() ? "" : "for update";
	}

	/**
	 * Whether a select locks nothing, so that the row is written as it is before it is
	 * read.
	 */
	boolean locksByWriting() {
		return false;
	}

	/**
	 * Whether the tables are InnoDB's. There, under <code>REPEATABLE READ</code>, the
	 * default, a plain read may return older rows than one that locks, and what writes
	 * and finds no row locks the place where it would be.
	 */
	boolean isInnoDb() {
		return false;
	}

	/** What a transaction of several steps begins with; null for nothing. */
	@Nullable String beginning() {
		return isInnoDb() ? "set transaction isolation level read committed" : null;
	}

	/** Whether many rows are better inserted by one statement than by a batch. */
	boolean sendsBatchesOneByOne() {
		return false;
	}

	/**
	 * A text in the form that is stored where spaces at its end count too: some databases
	 * compare as if there were none.
	 */
	String exact(String text) {
		return text;
	}

	/** The text that is stored in that form. */
	String bare(String exact) {
		return exact;
	}

	/** A null instead of a long text. */
	String noText() {
		return "null";
	}

	/** What a select ends with that is to return so many rows at most. */
	String limit(String count) {
		return "limit " + count;
	}

	/** What a select ends with that is to return one page. */
	String page(String limit, String offset) {
		return "limit " + limit + " offset " + offset;
	}

	/** Binds a text of any length. */
	void bindText(PreparedStatement statement, int index, @Nullable String text) throws SQLException {
		statement.setObject(index, text);
	}

}
