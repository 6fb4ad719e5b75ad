package io.sessionkit.store.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * An item as it is in the table.
 *
 * @param sequence its place in the session
 * @param turn the number of its turn
 * @param at when it was recorded
 * @param tokens its size
 * @param body the encoded message
 */
record ItemRow(long sequence, long turn, long at, int tokens, String body) {

	static final String COLUMNS = "i.seq, i.turn_no, i.recorded_at, i.tokens, i.body";

	/** Reads the {@link #COLUMNS}, wherever the body is. */
	static ItemRow read(ResultSet row, int first, int body) throws SQLException {
		return new ItemRow(row.getLong(first), row.getLong(first + 1), row.getLong(first + 2), row.getInt(first + 3),
				row.getString(body));
	}

}
