package io.sessionkit.store.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;

import io.sessionkit.TurnStatus;
import org.jspecify.annotations.Nullable;

/**
 * A turn as it is in the table.
 *
 * @param id its id
 * @param parent the turn it follows
 * @param path its place in the tree
 * @param branch the branch it was written on
 * @param status what became of it
 * @param parts how many parts of it are stored
 * @param items how many items it has
 * @param tokens the tokens of these
 * @param startedAt when it was opened
 * @param endedAt when it ended; null while it is open
 * @param state the encoded state as of this turn; null for none
 * @param origin who wrote it, encoded; null if nothing is known
 * @param outcome what came of it, encoded
 */
record TurnRow(String id, long parent, HeaderRow.Path path, String branch, TurnStatus status, int parts, int items,
		int tokens, long startedAt, @Nullable Long endedAt, @Nullable String state, @Nullable String origin,
		String outcome) {

	static final String COLUMNS = """
			t.turn_no, t.turn_id, t.parent, t.run_lo, t.run_parent, t.cp, t.cp_id, t.branch, t.status, t.parts, \
			t.items, t.tokens, t.started_at, t.ended_at, t.state, t.origin, t.outcome""";

	static TurnRow read(ResultSet row) throws SQLException {
		HeaderRow.Path path = new HeaderRow.Path(row.getLong(1), row.getLong(4), row.getLong(5), row.getLong(6),
				row.getString(7));
		return new TurnRow(row.getString(2), row.getLong(3), path, row.getString(8),
				TurnStatus.valueOf(row.getString(9)), row.getInt(10), row.getInt(11), row.getInt(12), row.getLong(13),
				HeaderRow.number(row, 14), row.getString(15), row.getString(16), row.getString(17));
	}

	SessionStatements.Progress progress() {
		return new SessionStatements.Progress(number(), this.parts, this.status.isOpen());
	}

	long number() {
		return this.path.head();
	}

	/** A turn that has just been added with its first part. */
	static TurnRow begun(HeaderRow.Path path, long parent, String branch, EncodedCommit.EncodedTurn turn) {
		return new TurnRow(turn.turn().id(), parent, path, branch, turn.turn().status(), 1, turn.items().size(),
				turn.tokens(), Micros.of(turn.turn().startedAt()), Micros.ofNullable(turn.turn().endedAt()), null,
				turn.origin(), turn.outcome());
	}

	/** This turn with the items of one more part. */
	TurnRow plus(int moreItems, int moreTokens) {
		return new TurnRow(this.id, this.parent, this.path, this.branch, this.status, this.parts + 1,
				this.items + moreItems, this.tokens + moreTokens, this.startedAt, this.endedAt, this.state, this.origin,
				this.outcome);
	}

}
