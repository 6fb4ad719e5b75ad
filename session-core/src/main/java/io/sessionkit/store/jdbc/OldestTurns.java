package io.sessionkit.store.jdbc;

import io.sessionkit.internal.row.HeaderRow;
import io.sessionkit.internal.row.TurnRow;
import io.sessionkit.internal.sql.Params;
import io.sessionkit.internal.sql.Sql;
import io.sessionkit.internal.sql.Templates;
import java.sql.Connection;
import java.sql.SQLException;

import io.sessionkit.store.Oldest;
import org.jspecify.annotations.Nullable;

/**
 * Deletes the oldest turns of a session. Their rows stay, without items. The path of the
 * head is cut behind them, so that reading all of it costs what is left: the first turn
 * of its last run follows the newest summary before it, or the beginning.
 */
final class OldestTurns {

	/** What is left of a turn. */
	static final String EMPTIED = "items = 0, tokens = 0, apart = 0, body = null, origin = null, state = null";

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
		long runLo = Math.max(end.runLo(), before);
		long anchor = anchor(connection, draft.pk(), end, before);
		if (end.head() == draft.path().head()) {
			draft.head(new HeaderRow.Path(end.head(), runLo, anchor, end.summary(), end.summaryId()),
					draft.attributes());
		}
		else {
			this.run.update(connection,
					Params.of("pk", draft.pk())
						.with("number", end.head())
						.with("runLo", runLo)
						.with("runParent", anchor));
		}
	}

	/**
	 * Returns the last turn that the newest summary covers on the way from the first turn
	 * that stays to the beginning; 0 if there is none.
	 */
	private long anchor(Connection connection, long pk, HeaderRow.Path run, long before) throws SQLException {
		if (run.runLo() < before) {
			HeaderRow.Path below = new HeaderRow.Path(before - 1, run.runLo(), run.runParent(), 0, null);
			return this.turns.withSummary(connection, pk, below).summary();
		}
		TurnRow parent = this.turns.find(connection, pk, run.runParent());
		return (parent != null) ? this.turns.withSummary(connection, pk, parent.path()).summary() : 0;
	}

}
