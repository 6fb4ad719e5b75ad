package io.sessionkit.store.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;

import io.sessionkit.internal.sql.Columns;
import io.sessionkit.internal.sql.Params;
import io.sessionkit.internal.sql.Sql;
import io.sessionkit.internal.sql.Templates;

/**
 * Compares the version of the tables with the one that this version works with.
 */
final class SchemaCheck {

	/** The version of the scripts. That of the first release is 2. */
	static final int VERSION = 2;

	private final Templates templates;

	private final Sql versions;

	private final List<Sql> probes;

	SchemaCheck(Templates templates) {
		this.templates = templates;
		this.versions = templates.sql("select max(version), max(compatible_from) from {schema}");
		this.probes = List.of(templates.sql(
				"select {header}, s.appended, s.stamp_1, s.stamp_2, s.stamp_3, s.purge_at from {session} s where 1 = 0"),
				templates.sql("select " + Columns.TURN + " from {turn} t where 1 = 0"),
				templates.sql("select {turnItems}, t.given_id from {turn} t where 1 = 0"),
				templates.sql("select " + Columns.ITEM + " from {item} i where 1 = 0"),
				templates.sql("select " + Columns.RECORD + ", r.covers from {record} r where 1 = 0"));
	}

	/**
	 * Checks that this version works with the tables.
	 * @throws IllegalStateException if they are too old or too new for it
	 * @throws SQLException if they do not exist
	 */
	void verify(Connection connection) throws SQLException {
		Versions found = this.versions.first(connection, new Params(), SchemaCheck::read);
		checkVersion((found != null) ? found : Versions.NONE);
		for (Sql probe : this.probes) {
			probe.each(connection, new Params(), (row) -> {
			});
		}
	}

	/** The greatest of no numbers is null. */
	private static Versions read(ResultSet row) throws SQLException {
		int tables = row.getInt(1);
		return row.wasNull() ? Versions.NONE : new Versions(tables, row.getInt(2));
	}

	private IllegalStateException withoutVersion() {
		return new IllegalStateException("Table " + this.templates.prefix()
				+ "SCHEMA has no row, so the version of the tables is not known. Run "
				+ this.templates.dialect().script() + " again, which adds what is missing and names its version"
				+ " last. If the tables were migrated to another version, insert a row with that one instead.");
	}

	private void checkVersion(Versions found) {
		if (found.equals(Versions.NONE)) {
			throw withoutVersion();
		}
		String tables = "Table " + this.templates.prefix() + "SCHEMA says that the tables have version " + found.tables;
		if (found.tables < VERSION) {
			throw new IllegalStateException(tables + "; this version of SessionKit needs version " + VERSION + " of "
					+ this.templates.dialect().script()
					+ ", the first that was released. Nothing migrates tables of the builds before: drop them, with the sessions"
					+ " in them, or choose another sessionkit.store.jdbc.table-prefix; then run the script.");
		}
		if (found.compatibleFrom > VERSION) {
			throw new IllegalStateException(tables + ", which a SessionKit with scripts of version "
					+ found.compatibleFrom + " or newer works with; this one has version " + VERSION + " of "
					+ this.templates.dialect().script() + ". Start a newer SessionKit.");
		}
	}

	/**
	 * The versions that the tables name.
	 *
	 * @param tables the version of the scripts that made or migrated them
	 * @param compatibleFrom the oldest version whose SessionKit works with them
	 */
	private record Versions(int tables, int compatibleFrom) {

		/** No version is named. */
		static final Versions NONE = new Versions(-1, -1);

	}

}
