package io.sessionkit.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

import io.sessionkit.ViewTotals;
import io.sessionkit.internal.row.EncodedCommit;
import io.sessionkit.internal.row.HeaderRow;
import io.sessionkit.internal.row.Micros;
import io.sessionkit.internal.row.NewItems;
import io.sessionkit.internal.row.TurnIds;
import io.sessionkit.internal.row.TurnRow;
import io.sessionkit.internal.sql.Columns;
import io.sessionkit.internal.sql.Dialect;
import io.sessionkit.internal.sql.Params;
import io.sessionkit.internal.sql.Sql;
import io.sessionkit.internal.sql.Templates;
import io.sessionkit.store.Tail;
import org.jspecify.annotations.Nullable;

/**
 * The statements for the tree of turns: finds, adds and changes single turns, and walks a
 * path run by run.
 */
final class TurnStatements {

	private final Dialect dialect;

	private final RecordStatements records;

	private final Sql byGivenId;

	private final Sql byNumber;

	private final Sql newest;

	private final Sql insert;

	private final Sql part;

	private final Sql attributes;

	private final Sql freed;

	private final Sql totals;

	TurnStatements(Templates templates, RecordStatements records) {
		this.records = records;
		this.dialect = templates.dialect();
		String turns = "select " + Columns.TURN + " from {turn} t where t.session_pk = :pk ";
		this.byGivenId = templates.sql(turns + "and t.given_id = {exact :id}");
		this.byNumber = templates.sql(turns + "and t.turn_no = :number");
		this.newest = templates.sql("select " + Columns.TURN + """
				 from {turn} t where t.session_pk = {pk} and t.turn_no < :before order by t.turn_no desc {limit}
				""");
		this.insert = templates.sql("insert into {turn} (" + AppendPhrases.TURN_COLUMNS + """
				) values (:pk, :number, :id, {exact :given}, :parent, :runLo, :runParent, :branch, :status, 1,
					:first, :apart, :items, :tokens, :startedAt, :endedAt, null, :origin, :outcome, :packed)
				""");
		this.part = templates.sql("""
				update {turn} set status = :status, parts = parts + 1, items = items + :items,
					apart = apart + :apart, tokens = tokens + :tokens, ended_at = :endedAt, outcome = :outcome
				where session_pk = :pk and turn_no = :number
				""");
		this.attributes = templates.sql("""
				update {turn} set attributes = :attributes
				where session_pk = :pk and turn_no = :number
				""");
		this.freed = templates.sql("""
				update {turn} set items = items - 1, tokens = tokens - :tokens
				where session_pk = :pk and turn_no = :number
				""");
		this.totals = templates.sql("""
				select sum(case when items > 0 then 1 else 0 end), sum(items), sum(tokens) from {turn}
				where session_pk = :pk and turn_no between :lo and :hi
				""");
	}

	@Nullable TurnRow find(Connection connection, long pk, String id) throws SQLException {
		TurnRow named = find(connection, pk, TurnIds.place(id));
		return (named != null && named.id().equals(id)) ? named
				: this.byGivenId.first(connection, Params.of("pk", pk).with("id", id), Columns::turn);
	}

	@Nullable TurnRow find(Connection connection, long pk, long number) throws SQLException {
		return (number > 0) ? this.byNumber.first(connection, Params.of("pk", pk).with("number", number), Columns::turn)
				: null;
	}

	/**
	 * Returns the newest turns, newest first.
	 */
	List<TurnRow> newest(Connection connection, String key, Tail tail) throws SQLException {
		if (tail.limit() == 0) {
			return List.of();
		}
		return this.newest.all(connection,
				Params.of("key", key).with("before", tail.before()).with("limit", (long) tail.limit()), Columns::turn);
	}

	/**
	 * Adds the first part of a turn. The turn follows its parent, at the end of this
	 * path.
	 * @param first the sequence of its first item
	 */
	void insert(Connection connection, long pk, HeaderRow.Path path, long parent, String branch, long first,
			EncodedCommit.EncodedTurn turn, NewItems items) throws SQLException {
		String id = turn.turn().id();
		this.insert.update(connection,
				part(pk, path.head(), turn, items).with("id", id)
					.with("given", this.dialect.givenId(id, path.head()))
					.with("parent", parent)
					.with("runLo", path.runLo())
					.with("runParent", path.runParent())
					.with("branch", branch)
					.with("first", first)
					.with("startedAt", Micros.of(turn.turn().startedAt()))
					.text("origin", turn.origin())
					.text("packed", items.packed()));
	}

	/**
	 * Adds a later part to a turn.
	 */
	void addPart(Connection connection, long pk, long number, EncodedCommit.EncodedTurn turn, NewItems items)
			throws SQLException {
		this.part.update(connection, part(pk, number, turn, items));
	}

	private static Params part(long pk, long number, EncodedCommit.EncodedTurn turn, NewItems items) {
		return Params.of("pk", pk)
			.with("number", number)
			.with("status", turn.turn().status().name())
			.with("apart", items.apart().size())
			.with("items", turn.items().size())
			.with("tokens", turn.tokens())
			.number("endedAt", Micros.ofNullable(turn.turn().endedAt()))
			.text("outcome", turn.outcome());
	}

	/**
	 * Stores the attributes that a turn leaves.
	 */
	void attributes(Connection connection, long pk, long number, @Nullable String attributes) throws SQLException {
		this.attributes.update(connection, Params.of("pk", pk).with("number", number).text("attributes", attributes));
	}

	/**
	 * Returns a path with the newest summary on it.
	 */
	HeaderRow.Path withSummary(Connection connection, long pk, HeaderRow.Path path) throws SQLException {
		List<RecordStatements.Covering> summaries = (path.head() > 0)
				? this.records.summaries(connection, pk, path.head()) : List.of();
		for (RecordStatements.Covering summary : summaries) {
			if (isOnPath(connection, pk, path, summary.turn())) {
				return path.summary(summary.turn(), summary.id());
			}
		}
		return path.summary(0, null);
	}

	/**
	 * Makes a turn the head, with its attributes and the summary in force there; null for
	 * the beginning.
	 */
	void moveTo(Connection connection, HeaderDraft draft, @Nullable TurnRow target) throws SQLException {
		HeaderRow.Path path = (target != null) ? target.path() : HeaderRow.Path.BEGINNING;
		draft.head(withSummary(connection, draft.pk(), path), (target != null) ? target.attributes() : null);
		draft.totals(totals(connection, draft.pk(), draft.path()));
	}

	/**
	 * Subtracts deleted items from the totals of their turns.
	 */
	void freed(Connection connection, long pk, List<ItemStatements.Place> items) throws SQLException {
		this.freed.updateAll(connection,
				items.stream()
					.map((item) -> Params.of("pk", pk).with("number", item.turn()).with("tokens", item.tokens()))
					.toList());
	}

	/**
	 * Returns the totals of the turns of a path after its summary. Those without items do
	 * not count.
	 */
	ViewTotals totals(Connection connection, long pk, HeaderRow.Path path) throws SQLException {
		ViewTotals totals = ViewTotals.NONE;
		long floor = path.summary();
		HeaderRow.Path end = path;
		while (end != null && end.head() > floor) {
			ViewTotals run = totals(connection, pk, Math.max(end.runLo(), floor + 1), end.head());
			totals = new ViewTotals(totals.turns() + run.turns(), totals.items() + run.items(),
					totals.tokens() + run.tokens());
			end = (end.runParent() > floor) ? path(connection, pk, end.runParent()) : null;
		}
		return totals;
	}

	private ViewTotals totals(Connection connection, long pk, long lo, long hi) throws SQLException {
		ViewTotals totals = this.totals.first(connection, Params.of("pk", pk).with("lo", lo).with("hi", hi),
				(row) -> new ViewTotals(row.getLong(1), row.getLong(2), row.getLong(3)));
		return (totals != null) ? totals : ViewTotals.NONE;
	}

	/**
	 * Returns whether a turn is on the path from the end of a path to the beginning.
	 */
	boolean isOnPath(Connection connection, long pk, HeaderRow.Path path, long number) throws SQLException {
		HeaderRow.Path end = path;
		while (end != null && end.runLo() > number) {
			end = path(connection, pk, end.runParent());
		}
		return end != null && number > 0 && number <= end.head();
	}

	/**
	 * Returns the turn behind another one on a path; 0 if there is none.
	 */
	long next(Connection connection, long pk, HeaderRow.Path path, long number) throws SQLException {
		HeaderRow.Path end = path;
		while (end != null && end.head() > number) {
			if (number >= end.runLo()) {
				return number + 1;
			}
			if (number == end.runParent()) {
				return end.runLo();
			}
			end = path(connection, pk, end.runParent());
		}
		return 0;
	}

	private HeaderRow.@Nullable Path path(Connection connection, long pk, long number) throws SQLException {
		TurnRow turn = find(connection, pk, number);
		return (turn != null) ? turn.path() : null;
	}

}
