package io.sessionkit.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

import io.sessionkit.SessionKey;
import io.sessionkit.internal.row.HeaderRow;
import io.sessionkit.internal.row.ItemRow;
import io.sessionkit.internal.row.RecordRow;
import io.sessionkit.internal.row.TurnRow;
import io.sessionkit.store.PathQuery;
import io.sessionkit.store.SessionRecord;
import org.jspecify.annotations.Nullable;

/**
 * Reads sessions along their paths.
 */
interface Paths {

	/**
	 * Reads a session as of one moment.
	 * @return what was read; null if the session is absent
	 * @throws io.sessionkit.store.ChangeRefusedException if no path ends where the query
	 * says
	 */
	@Nullable Rows read(Connection connection, SessionKey key, PathQuery query) throws SQLException;

	/**
	 * The rows of a session that were read.
	 *
	 * @param header the header as it is
	 * @param there the header as if the end of the path were the head
	 * @param summary the summary with which the view starts there; null if there is none
	 * @param next the turn of the active branch behind the end of the path; 0 for none
	 * @param items the items of the view there, oldest first
	 * @param turns turns of the path, oldest first
	 * @param records records of the session
	 */
	record Rows(HeaderRow header, HeaderRow there, @Nullable RecordRow summary, long next, List<ItemRow> items,
			List<TurnRow> turns, List<SessionRecord> records) {
	}

}
