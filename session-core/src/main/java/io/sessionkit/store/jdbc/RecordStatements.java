package io.sessionkit.store.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

import io.sessionkit.SessionKey;
import io.sessionkit.internal.row.KeyHash;
import io.sessionkit.internal.row.Micros;
import io.sessionkit.internal.row.RecordPlace;
import io.sessionkit.internal.sql.Columns;
import io.sessionkit.internal.sql.Params;
import io.sessionkit.internal.sql.Sql;
import io.sessionkit.internal.sql.Templates;
import io.sessionkit.store.Page;
import io.sessionkit.store.RecordPage;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import org.jspecify.annotations.Nullable;

/**
 * The statements for records. Each write is a compare-and-set of its own row and locks
 * nothing else.
 */
final class RecordStatements {

	private static final String ROW = "where session_pk = :pk and kind = :kind and id = {exact :id} ";

	private static final String ALIVE = "(expires_at is null or expires_at > :now) ";

	private static final String SET = """
			update {record} set revision = case when expires_at <= :now then :first else revision + 1 end,
				covers = case when expires_at <= :now then null else covers end,
				payload = :payload, written_at = :now, expires_at = :expires
			""";

	/** Null if a write takes more than one statement. */
	private final @Nullable RecordUpserts upserts;

	/** Null if a write that finds no row locks nothing. */
	private final @Nullable Sql presence;

	private final Sql session;

	/** Null if a record is not inserted without its session. */
	private final @Nullable Sql stays;

	private final Sql insert;

	private final Sql replaceAny;

	private final Sql replaceExpired;

	private final Sql replaceSeen;

	private final Sql deleteAny;

	private final Sql deleteSeen;

	private final Sql revision;

	/** The revision of the newest row, even if a transaction has read an older one. */
	private final Sql locked;

	private final Sql ofSession;

	private final Sql one;

	private final Sql ofOwner;

	/**
	 * The statements by kind. Each has its kind as a literal, so that a partial index is
	 * used whatever plan is kept.
	 */
	private final Map<String, Sql> ofAll = new HashMap<>();

	private final Sql expired;

	private final Sql deleteExpired;

	private final Sql deleteAll;

	private final Sql summaries;

	private final Sql uncover;

	private final Sql cover;

	RecordStatements(Templates templates) {
		this.upserts = templates.dialect().insertsRecordsOfSessions() ? new RecordUpserts(templates) : null;
		this.presence = templates.dialect().isInnoDb() ? templates.sql("select revision from {record} " + ROW) : null;
		this.session = templates.sql("select s.pk, {now} from {session} s where s.key_hash = :key and {live}");
		this.stays = templates.dialect().insertsRecordsOfSessions() ? null
				: templates.sql("select pk from {session} where pk = :pk");
		this.insert = templates.sql("""
				insert into {record} (session_pk, kind, id, revision, payload, written_at, expires_at)
				""" + templates.dialect().recordSource() + """
				 {new}
				""");
		this.replaceAny = templates.sql(SET + ROW);
		this.replaceExpired = templates.sql(SET + ROW + "and expires_at <= :now");
		this.replaceSeen = templates.sql(SET + ROW + "and revision = :expected and " + ALIVE);
		this.deleteAny = templates.sql("delete from {record} " + ROW);
		this.deleteSeen = templates.sql("delete from {record} " + ROW + "and revision = :expected and " + ALIVE);
		this.revision = templates.sql("select revision from {record} " + ROW + "and " + ALIVE);
		this.locked = templates.dialect().isInnoDb()
				? templates.sql("select revision from {record} " + ROW + "and " + ALIVE + "{lock}") : this.revision;
		String ofSession = "select {bare r.id}, " + Columns.RECORD + """
				 from {session} s join {record} r on r.session_pk = s.pk and r.kind = :kind
				where s.key_hash = :key and {live} and (r.expires_at is null or r.expires_at > {now})
				""";
		this.ofSession = templates.sql(ofSession);
		this.one = templates.sql(ofSession + " and r.id = {exact :id}");
		this.ofOwner = templates.sql("select {bare r.id}, " + Columns.RECORD + """
				, s.owner, s.id
				from {session} s join {record} r on r.session_pk = s.pk and r.kind = :kind
				where s.owner_hash = :owner and {live} and (r.expires_at is null or r.expires_at > {now})
				order by r.written_at desc, s.pk desc, r.id {page}
				""");
		SessionStore.SHARED_KINDS.forEach((kind) -> this.ofAll.put(kind, ofAll(templates, kind)));
		this.expired = templates.sql("""
				select r.session_pk, r.kind, r.id from {record} r where r.expires_at <= {statementTime}
				order by r.expires_at {limit}
				""");
		this.deleteExpired = templates.sql("""
				delete from {record} where session_pk = :pk and kind = :kind and id = :id and expires_at <= {now}
				""");
		this.deleteAll = templates.sql("delete from {record} where session_pk = :pk");
		this.summaries = templates.sql("""
				select r.covers, {bare r.id} from {record} r
				where r.session_pk = :pk and r.kind = 'summary' and r.covers <= :turn
					and (r.expires_at is null or r.expires_at > {now})
				order by r.covers desc
				""");
		this.uncover = templates.sql("""
				update {record} set covers = null where session_pk = :pk and kind = 'summary' and covers = :turn
				""");
		this.cover = templates.sql("update {record} set covers = :turn " + ROW);
	}

	private static Sql ofAll(Templates templates, String kind) {
		return templates.sql("select {bare r.id}, " + Columns.RECORD
				+ """
						, s.owner, s.id, r.session_pk
						from {record} r join {session} s on s.pk = r.session_pk
						where r.kind = '%s' and {live} and (r.expires_at is null or r.expires_at > {now}) and r.written_at >= :at
							and (r.written_at > :at or r.session_pk > :pk or r.session_pk = :pk and r.id > {exact :id})
						order by r.written_at, r.session_pk, r.id {limit}
						"""
					.formatted(kind));
	}

	/**
	 * Writes a record of an existing session.
	 * @return the session; null if the record is not as expected or the session is absent
	 */
	@Nullable Long put(Connection connection, String key, RecordWrite write) throws SQLException {
		if (this.upserts != null && this.upserts.makes(write)) {
			return this.upserts.put(connection, key, write);
		}
		long[] session = this.session.first(connection, Params.of("key", key),
				(row) -> new long[] { row.getLong(1), row.getLong(2) });
		return (session != null && putAlone(connection, params(session[0], session[1], write), write)) ? session[0]
				: null;
	}

	/** Writes outside of all transactions, where a look is never older than the row. */
	private boolean putAlone(Connection connection, Params params, RecordWrite write) throws SQLException {
		if (write.payload() != null) {
			return replace(connection, write.expected(), params);
		}
		return isNotFound(connection, params) ? write.expected() <= 0 : delete(connection, write.expected(), params);
	}

	/**
	 * Returns whether the record may be left behind by a session that is erased
	 * meanwhile.
	 */
	boolean mayBeLate(RecordWrite write) {
		return this.stays != null && write.payload() != null && write.expected() <= 0;
	}

	/**
	 * Removes a record again if its session was erased while the record was put.
	 * @return whether the record stays, because its session still exists
	 */
	boolean stays(Connection connection, long pk, RecordWrite write) throws SQLException {
		Params params = Params.of("pk", pk).with("kind", write.kind()).with("id", write.id());
		if (this.stays == null || this.stays.first(connection, params, (row) -> row.getLong(1)) != null) {
			return true;
		}
		this.deleteAny.update(connection, params);
		return false;
	}

	/**
	 * Writes a record as a part of a transaction.
	 * @return false if it is not as expected
	 */
	boolean write(Connection connection, long pk, long now, RecordWrite write) throws SQLException {
		Params params = params(pk, now, write);
		if (write.payload() != null) {
			return replace(connection, write.expected(), params);
		}
		return isAbsent(connection, params) ? write.expected() <= 0 : delete(connection, write.expected(), params);
	}

	private static Params params(long pk, long now, RecordWrite write) {
		Duration timeToLive = write.timeToLive();
		return Params.of("pk", pk)
			.with("now", now)
			.with("kind", write.kind())
			.with("id", write.id())
			.with("expected", write.expected())
			.with("first", write.first())
			.text("payload", write.payload())
			.number("expires", (timeToLive != null) ? now + Micros.of(timeToLive) : null);
	}

	private boolean replace(Connection connection, long expected, Params params) throws SQLException {
		if (isNotFound(connection, params)) {
			return expected <= 0 && (this.insert.insert(connection, params)
					|| (expected == RecordWrite.ANY && this.replaceAny.update(connection, params) == 1));
		}
		if (expected > 0) {
			return this.replaceSeen.update(connection, params) == 1;
		}
		Sql there = (expected == RecordWrite.ANY) ? this.replaceAny : this.replaceExpired;
		return there.update(connection, params) == 1 || this.insert.insert(connection, params)
				|| (expected == RecordWrite.ANY && there.update(connection, params) == 1);
	}

	private boolean isNotFound(Connection connection, Params params) throws SQLException {
		return this.presence != null && this.presence.first(connection, params, (row) -> row.getLong(1)) == null;
	}

	/**
	 * Returns whether a look finds no record, and there is none. What the caller has read
	 * before may make the look older than the record; a row that takes its place, and is
	 * deleted again, meets the record and locks nothing beside it.
	 */
	private boolean isAbsent(Connection connection, Params params) throws SQLException {
		return isNotFound(connection, params) && this.insert.insert(connection, params.text("payload", ""))
				&& this.deleteAny.update(connection, params) == 1;
	}

	private boolean delete(Connection connection, long expected, Params params) throws SQLException {
		if (expected > 0) {
			return this.deleteSeen.update(connection, params) == 1;
		}
		if (expected == 0) {
			return this.locked.first(connection, params, (row) -> row.getLong(1)) == null;
		}
		this.deleteAny.update(connection, params);
		return true;
	}

	/** Returns whether a write would be made, as far as reading can tell. */
	boolean isAsExpected(Connection connection, long pk, long now, RecordWrite write) throws SQLException {
		Params params = Params.of("pk", pk).with("now", now).with("kind", write.kind()).with("id", write.id());
		Long there = this.revision.first(connection, params, (row) -> row.getLong(1));
		return write.expected() == RecordWrite.ANY || write.expected() == ((there != null) ? there : 0);
	}

	/**
	 * A summary and the last turn that it covers.
	 */
	record Covering(long turn, String id) {
	}

	/**
	 * Returns the summaries that cover no turn after this one; those that cover most come
	 * first.
	 */
	List<Covering> summaries(Connection connection, long pk, long turn) throws SQLException {
		return this.summaries.all(connection, Params.of("pk", pk).with("turn", turn),
				(row) -> new Covering(row.getLong(1), row.getString(2)));
	}

	/**
	 * Notes that a summary covers the turns up to this one, instead of any that did so.
	 */
	void cover(Connection connection, long pk, long turn, String id) throws SQLException {
		Params params = Params.of("pk", pk).with("turn", turn);
		this.uncover.update(connection, params);
		this.cover.update(connection, params.with("kind", SessionStore.SUMMARY).with("id", id));
	}

	List<SessionRecord> of(Connection connection, SessionKey key, String kind) throws SQLException {
		List<SessionRecord> records = this.ofSession.all(connection,
				Params.of("key", KeyHash.of(key).session()).with("kind", kind), (row) -> record(row, key, kind));
		// not by the database, whose collation may order letters differently
		records.sort(Comparator.comparing(SessionRecord::id));
		return records;
	}

	Optional<SessionRecord> find(Connection connection, SessionKey key, String kind, String id) throws SQLException {
		Params params = Params.of("key", KeyHash.of(key).session()).with("kind", kind).with("id", id);
		return Optional.ofNullable(this.one.first(connection, params, (row) -> record(row, key, kind)));
	}

	List<SessionRecord> of(Connection connection, String owner, String kind, Page page) throws SQLException {
		if (page.limit() == 0) {
			return List.of();
		}
		Params params = Params.of("owner", KeyHash.ofOwner(owner))
			.with("kind", kind)
			.with("limit", (long) page.limit())
			.with("offset", (long) page.offset());
		return this.ofOwner.all(connection, params, (row) -> record(row, SessionStatements.key(row, 6), kind));
	}

	/**
	 * Returns the records of a kind in the sessions of all owners, those that were
	 * written longest ago first.
	 */
	RecordPage oldest(Connection connection, String kind, RecordPlace after, int limit) throws SQLException {
		Tie tie = Tie.of(after);
		Params params = Params.of("at", after.at())
			.with("pk", tie.pk())
			.with("id", tie.id())
			.with("limit", (long) limit);
		List<Placed> found = Objects.requireNonNull(this.ofAll.get(kind))
			.all(connection, params,
					(row) -> new Placed(record(row, SessionStatements.key(row, 6), kind), row.getLong(8)));
		String next = (found.size() == limit) ? found.get(limit - 1).place().text() : null;
		return new RecordPage(found.stream().map(Placed::record).toList(), next);
	}

	/**
	 * The order of records of one moment.
	 *
	 * @param pk the number of the session
	 * @param id the id of the record
	 */
	private record Tie(long pk, String id) {

		/** Before all records of the moment. */
		static final Tie NONE = new Tie(-1, "");

		/**
		 * Reads the tie of a place.
		 * @throws IllegalArgumentException if it is that of another store
		 */
		static Tie of(RecordPlace place) {
			if (place.tie().isEmpty()) {
				return NONE;
			}
			int space = place.tie().indexOf(' ');
			try {
				return new Tie(Long.parseLong(place.tie().substring(0, space)), place.tie().substring(space + 1));
			}
			catch (NumberFormatException | IndexOutOfBoundsException ex) {
				throw place.unknown(ex);
			}
		}

		String text() {
			return this.pk + " " + this.id;
		}

	}

	/** A record, and the number of its session. */
	private record Placed(SessionRecord record, long pk) {

		RecordPlace place() {
			return new RecordPlace(Micros.of(this.record.writtenAt()), new Tie(this.pk, this.record.id()).text());
		}

	}

	/**
	 * A row, identified by its key as it is stored.
	 */
	record Row(long pk, String kind, String id) {
	}

	/**
	 * Returns records that have expired before their sessions; those that expired first
	 * come first.
	 */
	List<Row> expired(Connection connection, int limit) throws SQLException {
		return this.expired.all(connection, Params.of("limit", (long) limit),
				(row) -> new Row(row.getLong(1), row.getString(2), row.getString(3)));
	}

	boolean deleteExpired(Connection connection, Row row) throws SQLException {
		Params params = Params.of("pk", row.pk()).with("kind", row.kind()).with("id", row.id());
		return this.deleteExpired.update(connection, params) == 1;
	}

	/**
	 * Deletes the records that were put while the session was being erased.
	 */
	int deleteAll(Connection connection, long session) throws SQLException {
		return this.deleteAll.update(connection, Params.of("pk", session));
	}

	private static SessionRecord record(ResultSet row, SessionKey key, String kind) throws SQLException {
		return Columns.record(row, 2, 5).record(key, kind, row.getString(1));
	}

}
