package io.sessionkit.store.jdbc;

import java.util.List;
import java.util.function.Function;

import io.sessionkit.internal.row.Micros;
import io.sessionkit.internal.sql.Params;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import org.jspecify.annotations.Nullable;

/**
 * The records of a commit, as parts of the one statement that makes it: those that are
 * created, put, replaced and deleted, each kind of write with arrays of values. Arrays
 * are cast, since a driver that sends simple queries sends them without their type.
 */
final class PostgresRecords {

	/**
	 * The kinds of writes.
	 */
	private enum Write {

		/** Creates a record that must be absent; an expired one counts as absent. */
		CREATE("c", inserted("c") + RecordUpserts.REPLACE + RecordUpserts.UNLESS_ALIVE),

		PUT("p", inserted("p") + RecordUpserts.REPLACE),

		REPLACE("r", """
				update {record} r set revision = r.revision + 1, payload = u.payload, written_at = {moment},
					expires_at = {moment} + u.ttl
				from unnest(cast(:rkinds as text[]), cast(:rids as text[]), cast(:rexpected as bigint[]),
					cast(:rpayloads as text[]), cast(:rttls as bigint[])) as u(kind, id, expected, payload, ttl)
				where r.session_pk = (select pk from s) and r.kind = u.kind and r.id = u.id and r.revision = u.expected
					and (r.expires_at is null or r.expires_at > {moment})
				"""),

		DELETE("d", """
				delete from {record} r
				using unnest(cast(:dkinds as text[]), cast(:dids as text[]), cast(:dexpected as bigint[]))
					as u(kind, id, expected)
				where r.session_pk = (select pk from s) and r.kind = u.kind and r.id = u.id and r.revision = u.expected
					and (r.expires_at is null or r.expires_at > {moment})
				"""),

		/** Deletes a record whatever its revision, if it is there. */
		REMOVE("x", """
				delete from {record} r using unnest(cast(:xkinds as text[]), cast(:xids as text[])) as u(kind, id)
				where r.session_pk = (select pk from s) and r.kind = u.kind and r.id = u.id
				""");

		private final String name;

		private final String sql;

		Write(String name, String sql) {
			this.name = name;
			this.sql = sql;
		}

		private static String inserted(String name) {
			return """
					insert into {record} as r (session_pk, kind, id, revision, payload, written_at, covers, expires_at)
						select s.pk, u.kind, u.id, u.first, u.payload, {moment}, u.covers, {moment} + u.ttl
						from s, unnest(cast(:{n}kinds as text[]), cast(:{n}ids as text[]), cast(:{n}firsts as bigint[]),
							cast(:{n}payloads as text[]), cast(:{n}covers as bigint[]), cast(:{n}ttls as bigint[]))
							as u(kind, id, first, payload, covers, ttl)
					""".replace("{n}", name);
		}

		static Write of(RecordWrite record) {
			if (record.payload() == null) {
				return (record.expected() > 0) ? DELETE : REMOVE;
			}
			if (record.expected() > 0) {
				return REPLACE;
			}
			return (record.expected() == RecordWrite.ANY) ? PUT : CREATE;
		}

	}

	private final List<RecordWrite> records;

	private final HeaderChange.@Nullable Summary summary;

	private PostgresRecords(List<RecordWrite> records, HeaderChange.@Nullable Summary summary) {
		this.records = records;
		this.summary = summary;
	}

	/**
	 * Returns whether all can be written so: not one that must be absent and stay so.
	 */
	static boolean makes(List<RecordWrite> records) {
		return records.stream().allMatch((record) -> record.payload() != null || record.expected() != 0);
	}

	/** Returns whether one of them is this summary, which may be a new one. */
	static boolean insert(List<RecordWrite> records, HeaderChange.Summary summary) {
		return records.stream()
			.anyMatch((record) -> isOf(record, summary) && record.payload() != null && record.expected() <= 0);
	}

	private static boolean isOf(RecordWrite record, HeaderChange.Summary summary) {
		return record.kind().equals(SessionStore.SUMMARY) && record.id().equals(summary.id());
	}

	/**
	 * Returns the writes of some records.
	 * @param summary the summary that is named as the start of the view; null for none
	 */
	static PostgresRecords of(List<RecordWrite> records, HeaderChange.@Nullable Summary summary) {
		return new PostgresRecords(records, summary);
	}

	/** Returns the parts of the statement, each after a comma. */
	String statements() {
		StringBuilder statements = new StringBuilder();
		for (Write write : Write.values()) {
			if (!of(write).isEmpty()) {
				statements.append(", ").append(write.name).append(" as (").append(write.sql).append(" returning 1)");
			}
		}
		return statements.toString();
	}

	/** Returns the condition that all were as expected. */
	String checks() {
		StringBuilder checks = new StringBuilder("true");
		for (Write write : Write.values()) {
			if (write != Write.REMOVE && !of(write).isEmpty()) {
				checks.append(" and (select count(*) from ")
					.append(write.name)
					.append(") = cardinality(cast(:")
					.append(write.name)
					.append("ids as text[]))");
			}
		}
		return checks.toString();
	}

	Params params() {
		Params params = new Params();
		for (Write write : Write.values()) {
			List<RecordWrite> of = of(write);
			if (!of.isEmpty()) {
				params.with(write.name + "kinds", texts(of, RecordWrite::kind))
					.with(write.name + "ids", texts(of, RecordWrite::id))
					.with(write.name + "firsts", numbers(of, RecordWrite::first))
					.with(write.name + "expected", numbers(of, RecordWrite::expected))
					.with(write.name + "covers", numbers(of, this::covers))
					.with(write.name + "ttls", numbers(of, PostgresRecords::life));
				params.with(write.name + "payloads", texts(of, RecordWrite::payload));
			}
		}
		return params;
	}

	private @Nullable Long covers(RecordWrite record) {
		return (this.summary != null && isOf(record, this.summary)) ? Long.valueOf(this.summary.turn()) : null;
	}

	private static @Nullable Long life(RecordWrite record) {
		return (record.timeToLive() != null) ? Long.valueOf(Micros.of(record.timeToLive())) : null;
	}

	private List<RecordWrite> of(Write write) {
		return this.records.stream().filter((record) -> Write.of(record) == write).toList();
	}

	private static @Nullable String[] texts(List<RecordWrite> records, Function<RecordWrite, @Nullable String> text) {
		return records.stream().map(text).toArray(String[]::new);
	}

	private static @Nullable Long[] numbers(List<RecordWrite> records, Function<RecordWrite, @Nullable Long> number) {
		return records.stream().map(number).toArray(Long[]::new);
	}

}
