package io.sessionkit.store.jdbc;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.sessionkit.internal.sql.Dialect;
import io.sessionkit.internal.sql.Templates;

/**
 * All statements for one database.
 *
 * @param dialect the database
 * @param hot the operations of every turn
 * @param general the commits that do more
 * @param tables the statements on one table each
 * @param reading turns with their items and records
 * @param paths sessions along one of their paths
 * @param schema the check of the tables
 */
record Backend(Dialect dialect, HotStatements hot, GeneralCommit general, Tables tables, TurnReading reading,
		Paths paths, SchemaCheck schema) {

	/**
	 * The statements on one table each.
	 *
	 * @param sessions headers
	 * @param turns turns
	 * @param items items that are not with their turn
	 * @param records records
	 */
	record Tables(SessionStatements sessions, TurnStatements turns, ItemStatements items, RecordStatements records) {

		static Tables of(Templates templates) {
			RecordStatements records = new RecordStatements(templates);
			return new Tables(new SessionStatements(templates), new TurnStatements(templates, records),
					new ItemStatements(templates), records);
		}

	}

	/** Statements are made of templates, which takes milliseconds, and never change. */
	private static final Map<Templates, Backend> made = new ConcurrentHashMap<>();

	static Backend of(Dialect dialect, String prefix) {
		return made.computeIfAbsent(new Templates(dialect, prefix), Backend::of);
	}

	private static Backend of(Templates templates) {
		Dialect dialect = templates.dialect();
		Tables tables = Tables.of(templates);
		GeneralCommit general = new GeneralCommit(tables, new OldestTurns(templates, tables.turns()));
		PathReading paths = new PathReading(templates, tables.turns(), tables.records());
		return new Backend(dialect, hot(dialect, templates), general, tables, new TurnReading(templates),
				paths(dialect, templates, paths), new SchemaCheck(templates));
	}

	private static Paths paths(Dialect dialect, Templates templates, PathReading general) {
		return (dialect == Dialect.POSTGRESQL) ? new PostgresPaths(templates, general) : general;
	}

	private static HotStatements hot(Dialect dialect, Templates templates) {
		return switch (dialect) {
			case POSTGRESQL -> new PostgresStatements(templates);
			case MARIADB -> new MariaDbStatements(templates);
			default -> new PortableStatements(templates);
		};
	}

}
