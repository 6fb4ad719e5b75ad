package io.sessionkit.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

import io.sessionkit.internal.row.HeaderRow;
import io.sessionkit.internal.row.TurnRow;
import io.sessionkit.internal.sql.Params;
import io.sessionkit.internal.sql.Sql;
import io.sessionkit.internal.sql.Templates;
import io.sessionkit.store.Oldest;
import org.jspecify.annotations.Nullable;

/**
 * Deletes the oldest turns of a session. Their rows stay, without items. The path of the
 * head is cut behind them, so that reading all of it costs what is left: the last one of
 * them becomes a run of its own, which follows the newest summary before it, or the
 * beginning.
 */
final class OldestTurns {

	/** The columns of a turn whose content is deleted. */
	static final String EMPTIED = "items = 0, tokens = 0, apart = 0, body = null, origin = null, attributes = null";

	private final TurnStatements turns;

	private final Sql empty;

	private final Sql items;

	private final Sql run;

	OldestTurns(Templates templates, TurnStatements turns) {
		this.turns = turns;
		this.empty = templates
			.sql("update {turn} set " + EMPTIED + " where session_pk = :pk and turn_no >= :from and turn_no < :before");
		this.items = templates
			.sql("delete from {item} where session_pk = :pk and turn_no >= :from and turn_no < :before");
		this.run = templates.sql("""
				update {turn} set run_lo = :runLo, run_parent = :runParent
				where session_pk = :pk and turn_no = :number
				""");
	}

	/**
	 * Returns whether the head or the open turn is among the turns.
	 */
	static boolean holdsTooMuch(Oldest oldest, HeaderRow header) {
		return oldest.before() > header.path().head() || (header.openTurn() > 0 && header.openTurn() < oldest.before());
	}

	void delete(Connection connection, @Nullable Oldest oldest, HeaderDraft draft) throws SQLException {
		if (oldest == null) {
			return;
		}
		Params range = Params.of("pk", draft.pk()).with("from", oldest.from()).with("before", oldest.before());
		this.empty.update(connection, range);
		this.items.update(connection, range);
		cut(connection, draft, oldest.before());
		draft.totals(this.turns.totals(connection, draft.pk(), draft.path()));
	}

	private void cut(Connection connection, HeaderDraft draft, long before) throws SQLException {
		HeaderRow.Path end = draft.path();
		while (end.runLo() > before && end.runParent() >= before) {
			TurnRow turn = this.turns.find(connection, draft.pk(), end.runParent());
			if (turn == null) {
				return;
			}
			end = turn.path();
		}
		long parent = (end.runLo() < before) ? before - 1 : end.runParent();
		HeaderRow.Path shorter = new HeaderRow.Path(end.head(), Math.max(end.runLo(), before), parent, end.summary(),
				end.summaryId());
		if (end.head() == draft.path().head()) {
			draft.head(shorter, draft.attributes());
		}
		else {
			write(connection, draft.pk(), shorter);
		}
		cutBefore(connection, draft.pk(), parent);
	}

	/** Lets the last turn that is deleted follow the newest summary before it. */
	private void cutBefore(Connection connection, long pk, long number) throws SQLException {
		TurnRow last = this.turns.find(connection, pk, number);
		if (last == null) {
			return;
		}
		HeaderRow.Path run = last.path();
		TurnRow parent = this.turns.find(connection, pk, run.runParent());
		HeaderRow.Path below = (run.runLo() < number)
				? new HeaderRow.Path(number - 1, run.runLo(), run.runParent(), 0, null)
				: (parent != null) ? parent.path() : HeaderRow.Path.BEGINNING;
		long covered = this.turns.withSummary(connection, pk, below).summary();
		write(connection, pk, new HeaderRow.Path(number, number, covered, 0, null));
	}

	private void write(Connection connection, long pk, HeaderRow.Path path) throws SQLException {
		this.run.update(connection,
				Params.of("pk", pk)
					.with("number", path.head())
					.with("runLo", path.runLo())
					.with("runParent", path.runParent()));
	}

}
