package io.sessionkit.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

import io.sessionkit.internal.row.HeaderRow;
import io.sessionkit.internal.row.KnownView;
import io.sessionkit.internal.sql.OpenedCollector;
import io.sessionkit.internal.sql.Params;
import io.sessionkit.internal.sql.RunWalk;
import io.sessionkit.internal.sql.Sql;
import io.sessionkit.internal.sql.Templates;
import io.sessionkit.internal.sql.TurnItems;
import io.sessionkit.store.Window;

/**
 * Opens a session with plain selects: its header, then its summary if there is one, then
 * the newest turns. For databases that run in the process of the application, where a
 * further statement costs less than one that has to be put together from several.
 */
final class PlainOpening {

	private static final String HEADER = """
			select {kind} as kind, {header} from {session} s where s.key_hash = :key and {live}
			""";

	/**
	 * The newest turns of the last run, each with the version of the header; one row
	 * without a turn if there are none.
	 */
	private static final String TURNS = """
			select s.version, {turnItems}
			from {session} s left join {turn} t on t.session_pk = s.pk and t.turn_no >= :lo and t.turn_no <= :hi
				and t.items > 0
			where s.pk = :pk
			order by t.turn_no desc {limit}
			""";

	private final Sql header;

	private final SummaryReading summary;

	private final Sql turns;

	PlainOpening(Templates templates) {
		this.header = templates.sql(HEADER);
		this.summary = new SummaryReading(templates);
		this.turns = templates.sql(TURNS);
	}

	/**
	 * Reads the header, and, unless the view is the known one, its summary and the newest
	 * turns, or those that were appended to the known one.
	 * @return the rows that were read; their header is null if the session is absent
	 */
	OpenedCollector read(Connection connection, String key, Window window, KnownView known) throws SQLException {
		OpenedCollector rows = new OpenedCollector();
		this.header.each(connection, PortableStatements.known(known).with("key", key), rows);
		HeaderRow header = rows.header();
		if (header != null && !rows.isUnchanged()) {
			if (rows.isWhole()) {
				rows.summary(this.summary.of(connection, header));
			}
			if (!window.isEmpty()) {
				readTurns(connection, header, window, rows);
			}
		}
		return rows;
	}

	private void readTurns(Connection connection, HeaderRow header, Window window, OpenedCollector rows)
			throws SQLException {
		HeaderRow.Path path = header.path();
		long newest = path.head() - Math.min(window.turns(), path.head()) + 1;
		Params params = Params.of("pk", header.pk())
			.with("lo", Math.max(newest, Math.max(path.runLo(), rows.floor() + 1)))
			.with("hi", path.head())
			.with("limit", RunWalk.turnsFor(window));
		rows.expectTurns();
		this.turns.each(connection, params,
				(row) -> rows.turnOf(row.getLong(1), (row.getLong(2) > 0) ? TurnItems.read(row, 2, 6) : null));
	}

}
