package io.sessionkit.store.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;

import io.sessionkit.SessionKey;
import io.sessionkit.store.SessionRecord;
import org.jspecify.annotations.Nullable;

/**
 * A record as it is in the table, without its name.
 *
 * @param revision its revision
 * @param written when it was last written
 * @param expires when it reads as absent; null: with the session
 * @param payload its content
 */
record RecordRow(long revision, long written, @Nullable Long expires, String payload) {

	static final String COLUMNS = "r.revision, r.written_at, r.expires_at, r.payload";

	/** Reads the {@link #COLUMNS}, wherever the payload is. */
	static RecordRow read(ResultSet row, int first, int payload) throws SQLException {
		return new RecordRow(row.getLong(first), row.getLong(first + 1), HeaderRow.number(row, first + 2),
				row.getString(payload));
	}

	SessionRecord record(SessionKey key, String kind, String id) {
		return new SessionRecord(key, kind, id, this.revision, this.payload, Micros.instant(this.written),
				Micros.instantOrNull(this.expires));
	}

}
