package io.sessionkit.internal.sql;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Objects;

import io.sessionkit.ViewTotals;
import io.sessionkit.internal.row.HeaderRow;
import io.sessionkit.internal.row.ItemRow;
import io.sessionkit.internal.row.RecordRow;
import io.sessionkit.internal.row.TurnRow;
import org.jspecify.annotations.Nullable;

/**
 * The columns of the tables, in the order in which they are selected and read.
 */
public final class Columns {

	/** The numbers of a header, to pack into one column. */
	public static final String HEADER_NUMBERS = """
			s.pk, s.version, s.turns, s.items, s.head, s.run_lo, s.run_parent, s.open_turn, s.summary_turn, \
			s.view_turns, s.view_items, s.view_tokens, s.ttl, s.created_at, s.updated_at, s.expires_at, s.stamp""";

	/** The texts of a header, to pack into another column. */
	public static final String HEADER_TEXTS = """
			s.branch, s.summary_id, s.incarnation, s.title, s.tags, s.settings, s.attributes""";

	public static final String HEADER = HEADER_NUMBERS + ", " + HEADER_TEXTS;

	/** The number of columns of a header before its stamp. */
	static final int STAMP = 16;

	/** The number of columns of a header. */
	public static final int HEADER_SIZE = 24;

	public static final String TURN = """
			t.turn_no, t.turn_id, t.parent, t.run_lo, t.run_parent, t.branch, t.status, t.parts, \
			t.items, t.tokens, t.started_at, t.ended_at, t.attributes, t.origin, t.outcome""";

	public static final String TURN_ITEMS = "t.turn_no, t.first_item, t.items, t.apart, t.body";

	public static final String ITEM = "i.seq, i.turn_no, i.recorded_at, i.tokens, i.body";

	public static final String RECORD = "r.revision, r.written_at, r.expires_at, r.payload";

	private Columns() {
	}

	/**
	 * Reads the columns of a header.
	 * @param row the row
	 * @param c the index of the first of them
	 */
	public static HeaderRow header(ResultSet row, int c) throws SQLException {
		HeaderRow.Path path = new HeaderRow.Path(row.getLong(c + 4), row.getLong(c + 5), row.getLong(c + 6),
				row.getLong(c + 8), row.getString(c + 18));
		ViewTotals totals = new ViewTotals(row.getLong(c + 9), row.getLong(c + 10), row.getLong(c + 11));
		HeaderRow.Life life = new HeaderRow.Life(number(row, c + 12), row.getLong(c + 13), row.getLong(c + 14),
				number(row, c + 15));
		return new HeaderRow(row.getLong(c), row.getString(c + 19), row.getLong(c + 1), row.getLong(c + 2),
				row.getLong(c + 3), path, row.getLong(c + 7), totals, life, row.getString(c + 17),
				row.getString(c + 20), row.getString(c + 21), row.getString(c + 22), row.getString(c + 23),
				row.getLong(c + 16));
	}

	/**
	 * Reads a packed header.
	 * @param n its numbers
	 * @param t its texts
	 */
	public static HeaderRow packedHeader(@Nullable Long[] n, @Nullable String[] t) {
		HeaderRow.Path path = new HeaderRow.Path(at(n, 4), at(n, 5), at(n, 6), at(n, 8), t[1]);
		ViewTotals totals = new ViewTotals(at(n, 9), at(n, 10), at(n, 11));
		HeaderRow.Life life = new HeaderRow.Life(n[12], at(n, 13), at(n, 14), n[15]);
		return new HeaderRow(at(n, 0), Objects.requireNonNull(t[2]), at(n, 1), at(n, 2), at(n, 3), path, at(n, 7),
				totals, life, Objects.requireNonNull(t[0]), t[3], t[4], t[5], t[6], at(n, 16));
	}

	private static long at(@Nullable Long[] numbers, int index) {
		return Objects.requireNonNull(numbers[index]);
	}

	public static TurnRow turn(ResultSet row) throws SQLException {
		HeaderRow.Path path = new HeaderRow.Path(row.getLong(1), row.getLong(4), row.getLong(5), 0, null);
		return new TurnRow(row.getString(2), row.getLong(3), path, row.getString(6), TurnRow.status(row.getString(7)),
				row.getInt(8), row.getInt(9), row.getInt(10), row.getLong(11), number(row, 12), row.getString(13),
				row.getString(14), row.getString(15));
	}

	/**
	 * Reads a packed turn.
	 * @param n its numbers: number, parent, run, parts, items, tokens, times
	 * @param t its texts: id, branch, status, attributes, origin, outcome
	 */
	public static TurnRow packedTurn(@Nullable Long[] n, @Nullable String[] t) {
		HeaderRow.Path path = new HeaderRow.Path(at(n, 0), at(n, 2), at(n, 3), 0, null);
		return new TurnRow(Objects.requireNonNull(t[0]), at(n, 1), path, Objects.requireNonNull(t[1]),
				TurnRow.status(Objects.requireNonNull(t[2])), (int) at(n, 4), (int) at(n, 5), (int) at(n, 6), at(n, 7),
				n[8], t[3], t[4], Objects.requireNonNull(t[5]));
	}

	/** Reads the columns of an item; the body may be at any index. */
	public static ItemRow item(ResultSet row, int first, int body) throws SQLException {
		return new ItemRow(row.getLong(first), row.getLong(first + 1), row.getLong(first + 2), row.getInt(first + 3),
				row.getString(body));
	}

	/**
	 * Reads the columns of a record; the payload may be at any index. Oracle stores an
	 * empty text as null.
	 */
	public static RecordRow record(ResultSet row, int first, int payload) throws SQLException {
		return new RecordRow(row.getLong(first), row.getLong(first + 1), number(row, first + 2),
				Objects.requireNonNullElse(row.getString(payload), ""));
	}

	public static @Nullable Long number(ResultSet row, int column) throws SQLException {
		long value = row.getLong(column);
		return row.wasNull() ? null : value;
	}

}
