package io.sessionkit.store.jdbc;

import io.sessionkit.internal.sql.Dialect;
import io.sessionkit.internal.sql.Templates;

/**
 * All statements for one database.
 *
 * @param dialect the database
 * @param hot the operations of every turn
 * @param general the commits that do more
 * @param sessions headers
 * @param turns turns
 * @param items items
 * @param reading turns with their items and records
 * @param paths sessions along one of their paths
 * @param records records
 * @param schema the check of the tables
 */
record Backend(Dialect dialect, HotStatements hot, GeneralCommit general, SessionStatements sessions,
		TurnStatements turns, ItemStatements items, TurnReading reading, Paths paths, RecordStatements records,
		SchemaCheck schema) {

	static Backend of(Dialect dialect, String prefix) {
		Templates templates = new Templates(dialect, prefix);
		SessionStatements sessions = new SessionStatements(templates);
		RecordStatements records = new RecordStatements(templates);
		TurnStatements turns = new TurnStatements(templates, records);
		ItemStatements items = new ItemStatements(templates);
		GeneralCommit general = new GeneralCommit(sessions, turns, items, records, new OldestTurns(templates, turns));
		return new Backend(dialect, hot(dialect, templates), general, sessions, turns, items,
				new TurnReading(templates), paths(dialect, templates, new PathReading(templates, turns, records)),
				records, new SchemaCheck(templates));
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
