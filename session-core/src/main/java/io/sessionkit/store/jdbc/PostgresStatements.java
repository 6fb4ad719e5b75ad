package io.sessionkit.store.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

import io.sessionkit.internal.row.EncodedCommit;
import io.sessionkit.internal.row.ItemRow;
import io.sessionkit.internal.row.KnownView;
import io.sessionkit.internal.row.Micros;
import io.sessionkit.internal.row.OpenedRows;
import io.sessionkit.store.Commit.Expect;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.CommitResult.Outcome;
import io.sessionkit.store.NewItem;
import io.sessionkit.store.Tail;
import io.sessionkit.store.Window;
import org.jspecify.annotations.Nullable;

/**
 * Opens a turn with one statement and commits it with one. Neither raises an error for a
 * duplicate or for a session that has changed, because an error would end the caller's
 * transaction.
 * <p>
 * A path is walked run by run; <code>lateral</code> with <code>offset 0</code> or
 * <code>limit</code> keeps the planner from reading whole tables instead, whatever its
 * statistics say.
 */
final class PostgresStatements implements HotStatements {

	/** The session, as a table of one row. */
	private static final String HEADER = """
			with recursive h as materialized (
				select {header}, {kind} as kind from {session} s where s.key_hash = :key and {live})
			""";

	/** The session of the log, whose reader knows no view. */
	private static final String HEADER_OF_LOG = """
			with recursive h as materialized (
				select {header}, 0 as kind from {session} s where s.key_hash = :key and {live})
			""";

	/** The runs from the head back to the floor, until they hold the requested turns. */
	private static final String RUNS_OF_TURNS = """
			, r(pk, floor, lo, hi, next, turns) as (
				select pk, {floor}, greatest(run_lo, head - :turns + 1, {floor} + 1), head, run_parent,
					:turns - (head - run_lo + 1)
				from h where kind = 0
				union all
				select r.pk, r.floor, greatest(t.run_lo, t.turn_no - r.turns + 1, r.floor + 1), t.turn_no,
					t.run_parent, r.turns - (t.turn_no - t.run_lo + 1)
				from r cross join lateral (
					select t.run_lo, t.turn_no, t.run_parent from {turn} t
					where t.session_pk = r.pk and t.turn_no = r.next limit 1) t
				where r.turns > 0 and r.next > r.floor)
			""";

	/**
	 * The same runs, but only until they hold the requested items. Items are counted only
	 * if the run is not the last one.
	 */
	private static final String RUNS_OF_ITEMS = """
			, r(pk, floor, lo, hi, next, turns, items) as (
				select pk, {floor}, greatest(run_lo, head - :turns + 1, {floor} + 1), head, run_parent,
					:turns - (head - run_lo + 1), cast(:items as bigint)
				from h where kind = 0
				union all
				select r.pk, r.floor, greatest(t.run_lo, t.turn_no - r.turns + 1, r.floor + 1), t.turn_no,
					t.run_parent, r.turns - (t.turn_no - t.run_lo + 1), c.items
				from r cross join lateral (
					select r.items - count(*) as items from (
						select 1 from {item} i where i.session_pk = r.pk and i.turn_no between r.lo and r.hi
							and i.seq < :before limit r.items) n) c
				cross join lateral (
					select t.run_lo, t.turn_no, t.run_parent from {turn} t
					where t.session_pk = r.pk and t.turn_no = r.next limit 1) t
				where r.turns > 0 and r.next > r.floor and c.items > 0)
			""";

	private static final String NEWEST_ITEMS = """
			, x as (
				select i.* from r cross join lateral (
					select i.seq, i.turn_no, i.recorded_at, i.tokens, i.body from {item} i
					where i.session_pk = r.pk and i.turn_no between r.lo and r.hi and i.seq < :before
					order by i.turn_no desc, i.seq desc limit r.items + :more) i)
			""";

	/**
	 * The header and the summary, as rows of the same shape as the items: the header is
	 * packed, so that items need no column for each of its fields. The rows are not
	 * sorted: the reader puts the items in order.
	 */
	private static final String HEADER_AND_SUMMARY = """
			select s.kind, null::bigint as seq, null::bigint as turn_no, null::bigint as at, null::int as tokens,
				null::text as body, array[{headerNumbers}] as numbers, array[{headerTexts}] as texts
			from h s
			union all
			select 1, r.revision, r.written_at, r.expires_at, null, r.payload, null, null
			from h cross join lateral (
				select * from {record} r
				where r.session_pk = h.pk and r.kind = 'checkpoint' and r.id = h.cp_id
					and (r.expires_at is null or r.expires_at > {now}) offset 0) r
			where h.kind = 0
			""";

	private static final String ITEM_SHAPE = """
			union all
			select 2, i.seq, i.turn_no, i.recorded_at, i.tokens, i.body, null, null
			""";

	private static final String OPEN_HEADER = HEADER + HEADER_AND_SUMMARY;

	private static final String OPEN_TURNS = (HEADER + RUNS_OF_TURNS + HEADER_AND_SUMMARY + ITEM_SHAPE + """
			from r cross join lateral (
				select * from {item} i where i.session_pk = r.pk and i.turn_no between r.lo and r.hi
				order by i.turn_no, i.seq offset 0) i
			""").replace("{floor}", "cp");

	/**
	 * Reads one item more than requested, which shows which turn does not fit as a whole.
	 */
	private static final String OPEN_ITEMS = (HEADER + RUNS_OF_ITEMS + NEWEST_ITEMS + HEADER_AND_SUMMARY + ITEM_SHAPE
			+ """
					from x i
					where i.turn_no > coalesce((select min(turn_no) from x having count(*) > :items), 0)
					""")
		.replace("{floor}", "cp");

	private static final String LOG = (HEADER_OF_LOG + RUNS_OF_ITEMS + NEWEST_ITEMS + """
			select i.seq, i.turn_no, i.recorded_at, i.tokens, i.body from x i order by i.turn_no, i.seq
			""").replace("{floor}", "cast(0 as bigint)");

	/** The log without a limit, which needs no counting. */
	private static final String WHOLE_LOG = (HEADER_OF_LOG + RUNS_OF_TURNS + """
			select i.seq, i.turn_no, i.recorded_at, i.tokens, i.body from r cross join lateral (
				select * from {item} i where i.session_pk = r.pk and i.turn_no between r.lo and r.hi
					and i.seq < :before
				order by i.turn_no, i.seq offset 0) i
			order by i.turn_no, i.seq
			""").replace("{floor}", "cast(0 as bigint)");

	/** The columns of the written header that the turn and the items need. */
	private static final String RETURNED = """
			s.pk, s.version, s.turns, s.items, s.run_lo, s.run_parent, s.cp, s.cp_id, s.branch, s.state""";

	/**
	 * Inserts the turn and the items that follow from the header <code>s</code>, if there
	 * is one.
	 */
	private static final String TURN_AND_ITEMS = """
			t as (insert into {turn} ({turnColumns})
				select {turnOfHeader} from s),
			i as (insert into {item} ({itemColumns})
				select s.pk, s.turns, s.items - :count + u.n, u.role, u.at, u.tokens, u.body
				from s, unnest(:roles, :ats, :sizes, :bodies) with ordinality as u(role, at, tokens, body, n))
			select version, turns, items from s
			""";

	/** Appends to the session as it was opened. */
	private static final String APPEND = phrased("""
			with c as materialized (select {now} as now),
			s as (update {session} s set {raise}
				from c
				where s.key_hash = :key and s.version = :version and s.incarnation = :incarnation and s.open_turn = 0
					and (s.expires_at is null or s.expires_at > c.now)
					and not exists (select 1 from {turn} t where t.session_pk = s.pk and t.turn_id = :turn)
				returning {returned}),
			""" + TURN_AND_ITEMS);

	/**
	 * Appends to the session as the statement sees it, or creates it. A concurrent write
	 * is noticed by the header, which then is no longer as it was seen.
	 */
	private static final String APPEND_OR_CREATE = phrased("""
			with c as materialized (select {now} as now),
			seen as materialized (
				select pk as seen_pk, version as seen_version, turns as seen_turns, items as seen_items
				from {session} where key_hash = :key),
			u as (update {session} s set {raise}
				from c, seen
				where cast(:existing as boolean) and s.pk = seen_pk and s.version = seen_version
					and s.turns = seen_turns and s.items = seen_items and s.open_turn = 0
					and (s.expires_at is null or s.expires_at > c.now)
					and not exists (select 1 from {turn} t where t.session_pk = s.pk and t.turn_id = :turn)
				returning {returned}),
			n as (insert into {session} as s ({headerColumns})
				select {firstHeader} from c where not exists (select 1 from seen)
				on conflict (key_hash) do nothing
				returning {returned}),
			s as (select * from u union all select * from n),
			""" + TURN_AND_ITEMS);

	private static String phrased(String template) {
		return template.replace("{raise}", AppendPhrases.RAISE_HEADER)
			.replace("{firstHeader}", AppendPhrases.FIRST_HEADER)
			.replace("{headerColumns}", AppendPhrases.HEADER_COLUMNS)
			.replace("{turnColumns}", AppendPhrases.TURN_COLUMNS)
			.replace("{turnOfHeader}", AppendPhrases.TURN_OF_HEADER)
			.replace("{itemColumns}", AppendPhrases.ITEM_COLUMNS)
			.replace("{returned}", RETURNED)
			.replace("{moment}", "c.now");
	}

	private final Sql waitingTurns;

	private final Sql openItems;

	private final Sql openHeader;

	private final Sql log;

	private final Sql wholeLog;

	private final Sql append;

	private final Sql appendOrCreate;

	PostgresStatements(Templates templates) {
		this.waitingTurns = templates.sql(OPEN_TURNS);
		this.openItems = templates.sql(OPEN_ITEMS);
		this.openHeader = templates.sql(OPEN_HEADER);
		this.log = templates.sql(LOG);
		this.wholeLog = templates.sql(WHOLE_LOG);
		this.append = templates.sql(APPEND);
		this.appendOrCreate = templates.sql(APPEND_OR_CREATE);
	}

	@Override
	public boolean appendsInOneStatement() {
		return true;
	}

	@Override
	public @Nullable OpenedRows open(Connection connection, String key, Window window, KnownView known)
			throws SQLException {
		Params params = PortableStatements.known(known)
			.with("key", key)
			.with("turns", (long) window.turns())
			.with("items", (long) window.items())
			.with("more", 1L)
			.with("before", Long.MAX_VALUE);
		OpenedCollector rows = OpenedCollector.ofPackedHeader();
		open(window).each(connection, params, rows);
		return rows.opened();
	}

	private Sql open(Window window) {
		if (window.isEmpty()) {
			return this.openHeader;
		}
		return (window.items() == Integer.MAX_VALUE) ? this.waitingTurns : this.openItems;
	}

	@Override
	public List<ItemRow> log(Connection connection, String key, Tail tail) throws SQLException {
		Params params = Params.of("key", key)
			.with("turns", (long) Integer.MAX_VALUE)
			.with("items", (long) tail.limit())
			.with("more", 0L)
			.with("before", tail.before());
		Sql sql = (tail.limit() == Integer.MAX_VALUE) ? this.wholeLog : this.log;
		return sql.all(connection, params, (row) -> Columns.item(row, 1, 5));
	}

	@Override
	public @Nullable CommitResult append(Connection connection, EncodedCommit commit) throws SQLException {
		Params params = AppendPhrases.params(commit);
		Expect expect = commit.commit().expect();
		params.with("existing", expect == Expect.ANY);
		withItems(params, commit.plainTurn());
		Sql sql = (expect == Expect.UNCHANGED) ? this.append : this.appendOrCreate;
		int count = commit.plainTurn().items().size();
		return sql.first(connection, params, (row) -> committed(row, count));
	}

	private static CommitResult committed(ResultSet row, int count) throws SQLException {
		return new CommitResult(Outcome.COMMITTED, row.getLong(1), row.getLong(2),
				AppendPhrases.firstItem(row.getLong(3), count));
	}

	private static void withItems(Params params, EncodedCommit.EncodedTurn turn) {
		List<String> roles = new ArrayList<>();
		List<Long> ats = new ArrayList<>();
		List<Long> sizes = new ArrayList<>();
		for (NewItem item : turn.items()) {
			roles.add(AppendPhrases.role(item));
			ats.add(Micros.of(item.at()));
			sizes.add((long) item.tokens());
		}
		params.with("roles", roles.toArray(String[]::new))
			.with("ats", ats.toArray(Long[]::new))
			.with("sizes", sizes.toArray(Long[]::new))
			.with("bodies", turn.bodies().toArray(String[]::new));
	}

}
