package io.sessionkit.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.stream.Collectors;

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

		/** Does not wait for, nor stop, those who only refer to the row. */
		@Override
		String lock() {
			return "for no key update";
		}

	},

	H2("H2", "h2", "(cast(extract(epoch from current_timestamp) * 1000000 as bigint))");

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

	/** The resource that creates the tables. */
	String script() {
		return "io/sessionkit/store/jdbc/schema-" + this.scriptId + ".sql";
	}

	/** What an insert ends with that is to write nothing where the key is taken. */
	String ignoringDuplicates() {
		return "";
	}

	/** What a select ends with that is to keep others from writing the row. */
	String lock() {
		return "for update";
	}

	/** What a select ends with that is to return so many rows at most. */
	String limit(String count) {
		return "limit " + count;
	}

	/** What a select ends with that is to return one page. */
	String page(String limit, String offset) {
		return "limit " + limit + " offset " + offset;
	}

}
