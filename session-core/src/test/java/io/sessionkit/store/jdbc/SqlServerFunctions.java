package io.sessionkit.store.jdbc;

/**
 * A function of SQL Server that H2 does not have in its SQL Server mode.
 */
public final class SqlServerFunctions {

	private SqlServerFunctions() {
	}

	/** The name of the database. */
	public static String name() {
		return "sessions";
	}

}
