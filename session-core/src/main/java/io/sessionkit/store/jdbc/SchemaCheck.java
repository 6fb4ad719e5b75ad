package io.sessionkit.store.jdbc;

import io.sessionkit.internal.sql.Columns;
import io.sessionkit.internal.sql.Templates;
import io.sessionkit.internal.sql.Params;
import io.sessionkit.internal.sql.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Compares the version of the tables with the one that this version writes.
 */
final class SchemaCheck {

	/** The version of the scripts. */
	static final int VERSION = 1;

	private final Templates templates;

	private final Sql version;

	private final List<Sql> probes;

	SchemaCheck(Templates templates) {
		this.templates = templates;
		this.version = templates.sql("select max(version) from {schema}");
		this.probes = List.of(templates.sql("select {header} from {session} s where 1 = 0"),
				templates.sql("select " + Columns.TURN + " from {turn} t where 1 = 0"),
				templates.sql("select {turnItems}, t.given_id from {turn} t where 1 = 0"),
				templates.sql("select " + Columns.ITEM + " from {item} i where 1 = 0"),
				templates.sql("select " + Columns.RECORD + ", r.covers from {record} r where 1 = 0"));
	}

	/**
	 * Checks that the tables are those of this version.
	 * @throws IllegalStateException if they have another version
	 * @throws SQLException if they do not exist
	 */
	void verify(Connection connection) throws SQLException {
		checkVersion(this.version.first(connection, new Params(), (row) -> row.getInt(1)));
		for (Sql probe : this.probes) {
			probe.each(connection, new Params(), (row) -> {
			});
		}
	}

	private void checkVersion(@Nullable Integer found) {
		if (found == null || found != VERSION) {
			throw new IllegalStateException(
					"Table " + this.templates.prefix() + "SCHEMA says that the tables have version "
							+ ((found != null) ? found : 0) + "; this version of SessionKit needs version " + VERSION
							+ " of " + this.templates.dialect().script() + ".");
		}
	}

}
