package io.sessionkit.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

import io.sessionkit.internal.row.Micros;
import io.sessionkit.internal.sql.Params;
import io.sessionkit.internal.sql.Sql;
import io.sessionkit.internal.sql.Templates;
import io.sessionkit.store.RecordWrite;
import org.jspecify.annotations.Nullable;

/**
 * The writes of records on PostgreSQL, each one statement: it finds the session, compares
 * the record that is there, and writes. A session that is being erased is waited for.
 */
final class RecordUpserts {

	/** One moment for all that is written and compared. */
	private static final String MOMENT = "(select {now} as now offset 0) m ";

	private static final String VALUES = """
			insert into {record} as r (session_pk, kind, id, revision, payload, written_at, expires_at)
				select s.pk, :kind, :id, cast(:first as bigint), :payload, m.now, m.now + cast(:ttl as bigint)
				from {session} s cross join\s""" + MOMENT + "where s.key_hash = :key and {live} for key share of s";

	/** An expired record counts as absent: its successor begins anew. */
	static final String REPLACE = """
			 on conflict (session_pk, kind, id) do update set
				revision = case when r.expires_at <= excluded.written_at then excluded.revision else r.revision + 1 end,
				covers = case when excluded.covers is not null or r.expires_at <= excluded.written_at then excluded.covers
				else r.covers end,
				payload = excluded.payload, written_at = excluded.written_at, expires_at = excluded.expires_at
			""";

	static final String UNLESS_ALIVE = " where r.expires_at <= excluded.written_at";

	private static final String RETURNED = " returning r.session_pk";

	private static final String SEEN = """
			r.session_pk = {pk} and r.kind = :kind and r.id = :id and r.revision = :expected
				and (r.expires_at is null or r.expires_at > m.now)
			""";

	private final Sql putAny;

	private final Sql create;

	private final Sql replaceSeen;

	private final Sql deleteSeen;

	RecordUpserts(Templates templates) {
		this.putAny = templates.sql(VALUES + REPLACE + RETURNED);
		this.create = templates.sql(VALUES + REPLACE + UNLESS_ALIVE + RETURNED);
		this.replaceSeen = templates.sql("""
				update {record} r set revision = r.revision + 1, payload = :payload, written_at = m.now,
					expires_at = m.now + cast(:ttl as bigint)
				from\s""" + MOMENT + "where " + SEEN + RETURNED);
		this.deleteSeen = templates.sql("delete from {record} r using " + MOMENT + "where " + SEEN + RETURNED);
	}

	/**
	 * Returns whether a write is made here. The others have to tell a record that is
	 * absent from a session that is.
	 */
	boolean makes(RecordWrite write) {
		return write.payload() != null || write.expected() > 0;
	}

	/**
	 * Writes a record of an existing session.
	 * @return the session; null if the record is not as expected or the session is absent
	 */
	@Nullable Long put(Connection connection, String key, RecordWrite write) throws SQLException {
		Params params = Params.of("key", key)
			.with("kind", write.kind())
			.with("id", write.id())
			.with("expected", write.expected())
			.with("first", write.first())
			.with("ttl", (write.timeToLive() != null) ? Micros.of(write.timeToLive()) : null)
			.text("payload", write.payload());
		return statement(write).first(connection, params, (row) -> row.getLong(1));
	}

	private Sql statement(RecordWrite write) {
		if (write.payload() == null) {
			return this.deleteSeen;
		}
		if (write.expected() > 0) {
			return this.replaceSeen;
		}
		return (write.expected() == RecordWrite.ANY) ? this.putAny : this.create;
	}

}
