package io.sessionkit.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

import io.sessionkit.internal.row.HeaderRow;
import io.sessionkit.internal.row.RecordRow;
import io.sessionkit.internal.sql.Columns;
import io.sessionkit.internal.sql.Params;
import io.sessionkit.internal.sql.Sql;
import io.sessionkit.internal.sql.Templates;
import org.jspecify.annotations.Nullable;

/**
 * Reads the summary that a header names, with a statement of its own.
 */
final class SummaryReading {

	private final Sql summary;

	SummaryReading(Templates templates) {
		this.summary = templates.sql("""
				select r.revision, r.written_at, r.expires_at, r.payload from {record} r
				where r.session_pk = :pk and r.kind = 'summary' and r.id = {exact :id}
					and (r.expires_at is null or r.expires_at > {now})
				""");
	}

	/**
	 * Reads the summary.
	 * @return its row; null if the header names none, or the record is gone
	 */
	@Nullable RecordRow of(Connection connection, HeaderRow header) throws SQLException {
		String id = header.path().summaryId();
		return (id != null) ? this.summary.first(connection, Params.of("pk", header.pk()).with("id", id),
				(row) -> Columns.record(row, 1, 4)) : null;
	}

}
