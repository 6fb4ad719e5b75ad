package io.sessionkit.store.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

import io.sessionkit.SessionKey;
import io.sessionkit.ViewTotals;
import io.sessionkit.internal.row.HeaderRow;
import io.sessionkit.internal.row.ItemRow;
import io.sessionkit.internal.row.KeyHash;
import io.sessionkit.internal.row.PackedItems;
import io.sessionkit.internal.row.RecordRow;
import io.sessionkit.internal.row.TurnRow;
import io.sessionkit.internal.sql.Columns;
import io.sessionkit.internal.sql.Params;
import io.sessionkit.internal.sql.Sql;
import io.sessionkit.internal.sql.Templates;
import io.sessionkit.store.PathQuery;
import io.sessionkit.store.Point;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.Window;
import org.jspecify.annotations.Nullable;

/**
 * Reads a session along one of its paths with one statement. Its rows have one shape: a
 * kind, numbers and texts.
 */
final class PostgresPaths implements Paths {

	private static final String SESSION = """
			with recursive s as materialized (select s.* from {session} s where s.key_hash = :key and {live})
			""";

	/** The head, whose summary and totals the header knows. */
	private static final String HEAD = """
			, h as materialized (
				select s.pk, s.summary_turn as floor, s.summary_id, s.head, s.run_lo, s.run_parent from s)
			""";

	/** The turn that a turn follows, or the beginning. */
	private static final String PARENT = """
			, e as materialized (
				select s.pk, coalesce(p.turn_no, 0) as head, coalesce(p.run_lo, 1) as run_lo,
					coalesce(p.run_parent, 0) as run_parent, p.attributes
				from s cross join lateral (
					select t.parent from {turn} t
					where t.session_pk = s.pk and t.turn_no = :end limit 1) t
				left join lateral (
					select p.turn_no, p.run_lo, p.run_parent, p.attributes from {turn} p
					where p.session_pk = s.pk and p.turn_no = t.parent limit 1) p on true)
			""";

	/** The runs of the active branch until they show the turn behind the end. */
	private static final String BEHIND = """
			, b(lo, hi, next) as (
				select s.run_lo, s.head, s.run_parent from s
				union all
				select t.run_lo, t.turn_no, t.run_parent
				from b cross join h cross join lateral (
					select t.run_lo, t.turn_no, t.run_parent from {turn} t
					where t.session_pk = h.pk and t.turn_no = b.next limit 1) t
				where b.lo > h.head and b.next > h.head)
			""";

	private static final String ELSEWHERE = PostgresRuns.AS_HEAD.replace("{moment}", "{now}") + BEHIND;

	/** The runs of the path, until they hold the requested turns. */
	private static final String RUNS_OF_PATH = """
			, p(lo, hi, next, missing) as (
				select h.run_lo, h.head, h.run_parent,
					:limit - greatest(0, least(h.head, :before - 1) - h.run_lo + 1)
				from h where h.head > 0
				union all
				select t.run_lo, t.turn_no, t.run_parent,
					p.missing - greatest(0, least(t.turn_no, :before - 1) - t.run_lo + 1)
				from p cross join lateral (
					select t.run_lo, t.turn_no, t.run_parent from {turn} t
					where t.session_pk = (select pk from h) and t.turn_no = p.next limit 1) t
				where p.missing > 0 and p.next > 0)
			""";

	private static final String HEADER_ROW = """
			select 0, array[{headerNumbers}], array[{headerTexts}] from s
			""";

	private static final String END_ROW = """
			union all
			select 1, array[h.head, h.run_lo, h.run_parent, h.floor, q.turns, q.items, q.tokens,
					(select coalesce(max(case when b.hi <= h.head then 0 when h.head >= b.lo then h.head + 1
						when h.head = b.next then b.lo else 0 end), 0) from b)],
				array[h.summary_id, h.attributes]
			from h cross join q
			""";

	private static final String SUMMARY_ROW = """
			union all
			select 2, array[r.revision, r.written_at, r.expires_at], array[r.payload]
			from {record} r
			where r.session_pk = (select pk from h) and r.kind = 'summary' and r.id = (select summary_id from h)
				and (r.expires_at is null or r.expires_at > {now})
			""";

	private static final String VIEW_ROWS = """
			union all
			select 3, array[t.turn_no, t.first_item, t.items], array[t.body] from {turns}
			union all
			select 4, array[i.seq, i.turn_no, i.recorded_at, cast(i.tokens as bigint)], array[i.body] from {items}
			""";

	private static final String TURN_ROWS = """
			union all
			select 5, array[t.turn_no, t.parent, t.run_lo, t.run_parent, t.parts, t.items, t.tokens, t.started_at,
					t.ended_at],
				array[t.turn_id, t.branch, t.status, t.attributes, t.origin, t.outcome]
			from p cross join lateral (
				select t.* from {turn} t where t.session_pk = (select pk from h)
					and t.turn_no between greatest(p.lo, p.lo - p.missing) and least(p.hi, :before - 1) offset 0) t
			""";

	private static final String RECORD_ROWS = """
			union all
			select 6, array[r.revision, r.written_at, r.expires_at], array[r.kind, r.id, r.payload]
			from {record} r where r.session_pk = (select pk from s) and r.kind = any(:kinds)
				and (r.expires_at is null or r.expires_at > {now})
			""";

	private final Templates templates;

	private final PathReading general;

	private final Map<String, Sql> statements = new ConcurrentHashMap<>();

	/**
	 * @param general says why a path has no end
	 */
	PostgresPaths(Templates templates, PathReading general) {
		this.templates = templates;
		this.general = general;
	}

	@Override
	public @Nullable Rows read(Connection connection, SessionKey key, PathQuery query) throws SQLException {
		Params params = Params.of("key", KeyHash.of(key).session())
			.with("end", query.end().turn())
			.with("turns", (long) query.window().turns())
			.with("items", (long) query.window().items())
			.with("limit", (long) query.turns().limit())
			.with("before", query.turns().before())
			.with("kinds", query.kinds().toArray(String[]::new));
		Collected collected = new Collected(key);
		this.statements.computeIfAbsent(statement(query), this.templates::sql).each(connection, params, collected);
		if (collected.header == null) {
			return null;
		}
		if (!query.end().equals(Point.HEAD) && collected.end == null) {
			return this.general.read(connection, key, query);
		}
		return collected.rows();
	}

	private static String statement(PathQuery query) {
		boolean atHead = query.end().equals(Point.HEAD);
		boolean turns = query.turns().limit() > 0;
		return SESSION + end(query.end()) + runs(query.window()) + (turns ? RUNS_OF_PATH : "") + HEADER_ROW
				+ (atHead ? "" : END_ROW) + SUMMARY_ROW + view(query.window()) + (turns ? TURN_ROWS : "")
				+ (query.kinds().isEmpty() ? "" : RECORD_ROWS);
	}

	private static String end(Point end) {
		return switch (end.kind()) {
			case HEAD -> HEAD;
			case TURN -> PostgresRuns.END.replace("{from}", "s") + ELSEWHERE;
			case PARENT -> PARENT + ELSEWHERE;
		};
	}

	private static String runs(Window window) {
		if (window.isEmpty()) {
			return "";
		}
		if (window.equals(Window.ALL)) {
			return PostgresRuns.ALL_RUNS;
		}
		return isCounted(window) ? PostgresRuns.RUNS_OF_ITEMS + PostgresRuns.WHOLE_TURNS : PostgresRuns.REQUESTED_TURNS;
	}

	private static String view(Window window) {
		if (window.isEmpty()) {
			return "";
		}
		return window.equals(Window.ALL) ? PostgresRuns.ofRuns(VIEW_ROWS) : PostgresRuns.ofTurns(VIEW_ROWS);
	}

	/** Returns whether items have to be counted. */
	private static boolean isCounted(Window window) {
		return window.items() < Integer.MAX_VALUE;
	}

	private static long at(@Nullable Long[] numbers, int index) {
		return Objects.requireNonNull(numbers[index]);
	}

	/** Collects the rows. */
	private static final class Collected implements Sql.Receiver {

		private final SessionKey key;

		private final List<ItemRow> items = new ArrayList<>();

		private final List<TurnRow> turns = new ArrayList<>();

		private final List<SessionRecord> records = new ArrayList<>();

		private @Nullable HeaderRow header;

		private @Nullable RecordRow summary;

		private @Nullable End end;

		Collected(SessionKey key) {
			this.key = key;
		}

		@Override
		public void receive(ResultSet row) throws SQLException {
			@Nullable Long[] numbers = (Long[]) row.getArray(2).getArray();
			@Nullable String[] texts = (String[]) row.getArray(3).getArray();
			switch (row.getInt(1)) {
				case 0 -> this.header = Columns.packedHeader(numbers, texts);
				case 1 -> this.end = End.of(numbers, texts);
				case 2 -> this.summary = record(numbers, texts[0]);
				case 3 -> this.items.addAll(PackedItems.read(at(numbers, 0), at(numbers, 1), texts[0]));
				case 4 -> this.items.add(new ItemRow(at(numbers, 0), at(numbers, 1), at(numbers, 2),
						(int) at(numbers, 3), Objects.requireNonNull(texts[0])));
				case 5 -> this.turns.add(Columns.packedTurn(numbers, texts));
				default -> this.records.add(record(numbers, texts[2]).record(this.key, Objects.requireNonNull(texts[0]),
						Objects.requireNonNull(texts[1])));
			}
		}

		private static RecordRow record(@Nullable Long[] numbers, @Nullable String payload) {
			return new RecordRow(at(numbers, 0), at(numbers, 1), numbers[2], Objects.requireNonNull(payload));
		}

		Rows rows() {
			HeaderRow header = Objects.requireNonNull(this.header);
			this.items.sort(Comparator.comparingLong(ItemRow::sequence));
			this.turns.sort(Comparator.comparingLong(TurnRow::number));
			// not by the database, whose collation may order letters differently
			this.records.sort(Comparator.comparing(SessionRecord::id));
			return (this.end != null)
					? new Rows(header, this.end.of(header), this.summary, this.end.next(), this.items, this.turns,
							this.records)
					: new Rows(header, header, this.summary, 0, this.items, this.turns, this.records);
		}

	}

	/** The end of a path that is not the head. */
	private record End(HeaderRow.Path path, ViewTotals totals, long next, @Nullable String attributes) {

		static End of(@Nullable Long[] n, @Nullable String[] texts) {
			return new End(new HeaderRow.Path(at(n, 0), at(n, 1), at(n, 2), at(n, 3), texts[0]),
					new ViewTotals(at(n, 4), at(n, 5), at(n, 6)), at(n, 7), texts[1]);
		}

		HeaderRow of(HeaderRow header) {
			return header.at(this.path, this.totals, this.attributes);
		}

	}

}
