package io.sessionkit.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

import io.sessionkit.SessionKey;
import io.sessionkit.TurnStatus;
import io.sessionkit.internal.Attempts;
import io.sessionkit.internal.row.HeaderRow;
import io.sessionkit.internal.row.ItemRow;
import io.sessionkit.internal.row.KeyHash;
import io.sessionkit.internal.row.RefusedChange;
import io.sessionkit.internal.row.TurnRow;
import io.sessionkit.internal.sql.Columns;
import io.sessionkit.internal.sql.Params;
import io.sessionkit.internal.sql.PathItems;
import io.sessionkit.internal.sql.RunWalk;
import io.sessionkit.internal.sql.Sql;
import io.sessionkit.internal.sql.Templates;
import io.sessionkit.store.ChangeRefusedException;
import io.sessionkit.store.PathQuery;
import io.sessionkit.store.Point;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.Tail;
import io.sessionkit.store.Window;
import org.jspecify.annotations.Nullable;

/**
 * Reads a session along one of its paths, with several statements whose results belong
 * together if the header has not been written since.
 */
final class PathReading implements Paths {

	private final TurnStatements turns;

	private final RecordStatements records;

	private final PathItems items;

	private final Sql header;

	private final SummaryReading summary;

	private final Sql run;

	PathReading(Templates templates, TurnStatements turns, RecordStatements records) {
		this.turns = turns;
		this.records = records;
		this.items = new PathItems(templates);
		this.header = templates.sql("select {header} from {session} s where s.key_hash = :key and {live}");
		this.summary = new SummaryReading(templates);
		this.run = templates.sql("select " + Columns.TURN + """
				 from {turn} t where t.session_pk = :pk and t.turn_no >= :lo and t.turn_no <= :hi
				order by t.turn_no desc {limit}
				""");
	}

	@Override
	public @Nullable Rows read(Connection connection, SessionKey key, PathQuery query) throws SQLException {
		return settled(() -> {
			HeaderRow header = header(connection, KeyHash.of(key).session());
			return (header != null) ? unchanged(connection, key, query, header).map(Optional::of)
					: Optional.of(Optional.<Rows>empty());
		}).orElse(null);
	}

	/**
	 * Begins a read again as long as writes come between.
	 * @param read returns what it has read, or empty if it may not belong together
	 * @throws SQLException if others wrote all the time, which the caller tries again as
	 * it does with a transaction that the database has rolled back
	 */
	static <T> T settled(Attempts.Attempt<T, SQLException> read) throws SQLException {
		return Attempts.SOME.make(read)
			.orElseThrow(() -> new SQLException("The session was written all the time while it was read.", "40001"));
	}

	/**
	 * Returns the rows if the session was not written while they were read. Only then
	 * does a missing end count.
	 */
	private Optional<Rows> unchanged(Connection connection, SessionKey key, PathQuery query, HeaderRow header)
			throws SQLException {
		try {
			Rows rows = read(connection, key, query, header);
			return isUnchanged(connection, key, header) ? Optional.of(rows) : Optional.empty();
		}
		catch (ChangeRefusedException ex) {
			if (isUnchanged(connection, key, header)) {
				throw ex;
			}
			return Optional.empty();
		}
	}

	private boolean isUnchanged(Connection connection, SessionKey key, HeaderRow header) throws SQLException {
		HeaderRow now = header(connection, KeyHash.of(key).session());
		return now != null && now.pk() == header.pk() && now.stamp() == header.stamp();
	}

	private @Nullable HeaderRow header(Connection connection, String hash) throws SQLException {
		return this.header.first(connection, Params.of("key", hash), (row) -> Columns.header(row, 1));
	}

	private Rows read(Connection connection, SessionKey key, PathQuery query, HeaderRow header) throws SQLException {
		HeaderRow there = query.end().equals(Point.HEAD) ? header
				: there(connection, header, end(connection, key, header.pk(), query.end()));
		List<SessionRecord> records = new ArrayList<>();
		for (String kind : query.kinds()) {
			records.addAll(this.records.of(connection, key, kind));
		}
		return new Rows(header, there, this.summary.of(connection, there),
				this.turns.next(connection, header.pk(), header.path(), there.path().head()),
				items(connection, there, query.window()), turns(connection, there, query.turns()), records);
	}

	/**
	 * Returns the turn at which a path ends; null for the beginning.
	 */
	private @Nullable TurnRow end(Connection connection, SessionKey key, long pk, Point end) throws SQLException {
		boolean toTurn = end.kind() == Point.Kind.TURN;
		if (toTurn && end.turn() == 0) {
			return null;
		}
		TurnRow turn = this.turns.find(connection, pk, end.turn());
		if (turn == null || (toTurn && turn.status() != TurnStatus.COMPLETED)) {
			throw RefusedChange.end(key, end, turn != null);
		}
		return toTurn ? turn : this.turns.find(connection, pk, turn.parent());
	}

	private HeaderRow there(Connection connection, HeaderRow header, @Nullable TurnRow end) throws SQLException {
		HeaderRow.Path path = this.turns.withSummary(connection, header.pk(),
				(end != null) ? end.path() : HeaderRow.Path.BEGINNING);
		return header.at(path, this.turns.totals(connection, header.pk(), path),
				(end != null) ? end.attributes() : null);
	}

	private List<ItemRow> items(Connection connection, HeaderRow header, Window window) throws SQLException {
		RunWalk walk = new RunWalk(header, header.path().summary(), window);
		this.items.walk(connection, walk);
		return walk.wholeTurns(window);
	}

	private List<TurnRow> turns(Connection connection, HeaderRow header, Tail tail) throws SQLException {
		List<TurnRow> newest = new ArrayList<>();
		HeaderRow.Path end = header.path();
		while (end != null && end.head() > 0 && newest.size() < tail.limit()) {
			addNewest(connection, header.pk(), end, tail, newest);
			TurnRow before = this.turns.find(connection, header.pk(), end.runParent());
			end = (before != null) ? before.path() : null;
		}
		Collections.reverse(newest);
		return newest;
	}

	private void addNewest(Connection connection, long pk, HeaderRow.Path run, Tail tail, List<TurnRow> newest)
			throws SQLException {
		long hi = Math.min(run.head(), tail.before() - 1);
		if (hi >= run.runLo()) {
			newest.addAll(this.run.all(connection,
					Params.of("pk", pk)
						.with("lo", run.runLo())
						.with("hi", hi)
						.with("limit", (long) tail.limit() - newest.size()),
					Columns::turn));
		}
	}

}
