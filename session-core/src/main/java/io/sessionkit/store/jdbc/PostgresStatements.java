package io.sessionkit.store.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;

import io.sessionkit.internal.row.EncodedCommit;
import io.sessionkit.internal.row.HeaderRow;
import io.sessionkit.internal.row.ItemRow;
import io.sessionkit.internal.row.KnownView;
import io.sessionkit.internal.row.NewItems;
import io.sessionkit.internal.row.OpenedRows;
import io.sessionkit.internal.row.PackedItems;
import io.sessionkit.internal.row.RecordRow;
import io.sessionkit.internal.sql.Columns;
import io.sessionkit.internal.sql.ItemCollector;
import io.sessionkit.internal.sql.OpenedCollector;
import io.sessionkit.internal.sql.Params;
import io.sessionkit.internal.sql.Sql;
import io.sessionkit.internal.sql.Templates;
import io.sessionkit.store.Commit.Expect;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.CommitResult.Outcome;
import io.sessionkit.store.Tail;
import io.sessionkit.store.Window;
import org.jspecify.annotations.Nullable;

/**
 * Opens a turn with one statement and commits it with one. Neither raises an error for a
 * duplicate or for a session that has changed, because an error would end the caller's
 * transaction.
 */
final class PostgresStatements implements HotStatements {

	/**
	 * One row: the header, its summary, and the turns of the view, packed into arrays. A
	 * column for each number, and a row for each turn, would cost more than what is in
	 * them. If the view is the known one, the selects in the conditions do not run. See
	 * {@link OpenedCollector} for the kinds.
	 */
	private static final String OPEN = """
			select s.kind, array[{headerNumbers}], array[{headerTexts}],
				case when s.summary_id is not null and s.kind = 0 then (
					select array[cast(r.revision as text), cast(r.written_at as text), cast(r.expires_at as text),
						r.payload]
					from {record} r
					where r.session_pk = s.pk and r.kind = 'summary' and r.id = s.summary_id
						and (r.expires_at is null or r.expires_at > {now})) end,
				{view}
			from (select s.*, {kind} as kind from {session} s where s.key_hash = :key and {live} offset 0) s
			""";

	private static final String VIEW = "case when s.kind <> 3 then ({view}) end";

	/**
	 * The end of the path that is read, for {@link PostgresRuns}, and what is known of
	 * it.
	 */
	private static final String HEAD_OF_VIEW = """
			with recursive h as (
				select s.pk, case when s.kind > 3 then s.head - (s.kind - 3) else s.summary_turn end as floor, s.head, s.run_lo,
					s.run_parent)
			""";

	private static final String HEAD_OF_LOG = """
			with recursive h as (
				select s.pk, cast(0 as bigint) as floor, s.head, s.run_lo, s.run_parent
				from {session} s where s.key_hash = :key and {live})
			""";

	/** The turns, and the items in rows of their own, as one array of rows. */
	private static final String ARRAY = """
			select array_agg(v.texts) from (
				select array[cast(t.turn_no as text), cast(t.first_item as text), null, null, t.body] as texts
				from {turns}
				union all
				select array[cast(i.seq as text), cast(i.turn_no as text), cast(i.recorded_at as text),
					cast(i.tokens as text), i.body]
				from {items}) v
			""";

	/** The same as rows, for a log of any length. */
	private static final String ROWS = """
			select 2 as kind, t.turn_no, t.first_item, t.items, 0, t.body from {turns}
			union all
			select 3, i.seq, i.turn_no, i.recorded_at, i.tokens, i.body from {items}
			""";

	/**
	 * With <code>offset 0</code> each select stays one of its own. Without it the planner
	 * may join the tables, and for as long as it has no statistics of a table it then
	 * reads all of it.
	 */
	static final String UNLESS_STORED = AppendPhrases.unlessStored("offset 0");

	private static final String OPEN_HEADER = OPEN.replace("{view}", "null");

	private static final String OPEN_TURNS = OPEN.replace("{view}",
			VIEW.replace("{view}", HEAD_OF_VIEW + PostgresRuns.REQUESTED_TURNS + PostgresRuns.ofTurns(ARRAY)));

	private static final String OPEN_ALL = OPEN.replace("{view}",
			VIEW.replace("{view}", HEAD_OF_VIEW + PostgresRuns.ALL_RUNS + PostgresRuns.ofRuns(ARRAY)));

	private static final String OPEN_ITEMS = OPEN.replace("{view}", VIEW.replace("{view}",
			HEAD_OF_VIEW + PostgresRuns.RUNS_OF_ITEMS + PostgresRuns.WHOLE_TURNS + PostgresRuns.ofTurns(ARRAY)));

	private static final String LOG = HEAD_OF_LOG + PostgresRuns.RUNS_OF_ITEMS + PostgresRuns.NEWEST_TURNS
			+ ", t as (select * from x where total - items < :items) " + PostgresRuns.ofTurns(ROWS);

	/** The log without a limit, which needs no counting. */
	private static final String WHOLE_LOG = HEAD_OF_LOG + PostgresRuns.ALL_RUNS + PostgresRuns.ofRuns(ROWS);

	/** The columns of the written header that the turn and the items need. */
	private static final String RETURNED = """
			s.pk, s.version, s.turns, s.items, s.run_lo, s.run_parent, s.summary_turn, s.summary_id, s.branch, s.attributes""";

	/** Inserts the turn that follows from the header <code>s</code>, if there is one. */
	private static final String TURN = """
			t as (insert into {turn} ({turnColumns}) select {turnOfHeader} from s)
			""";

	/** Inserts its items that have rows of their own. */
	static final String ITEMS = """
			, i as (insert into {item} ({itemColumns})
				select s.pk, {number}, s.items - :count + 1 + u.place, u.at, u.tokens, u.body
				from s, unnest(cast(:places as bigint[]), cast(:ats as bigint[]), cast(:sizes as bigint[]),
					cast(:bodies as text[])) as u(place, at, tokens, body))
			""".replace("{itemColumns}", AppendPhrases.ITEM_COLUMNS);

	private static final String RESULT = " select version, turns, items from s";

	/**
	 * Appends to the session as it was opened. The version alone would not do: other
	 * turns, and this one if it ends in two ways at once, may be stored without raising
	 * it. A writer that was waited for is noticed by the header only, since the rest of
	 * the statement sees the tables as they were before.
	 */
	private static final String APPEND = """
			with s as (update {session} s set {raise}
				where s.key_hash = :key and s.version = :version and s.turns = :turns and s.items = :items
					and s.incarnation = :incarnation and s.open_turn = 0
					and (s.expires_at is null or s.expires_at > {moment}) {unlessStored}
				returning {returned}),
			""" + TURN;

	/**
	 * Appends to the session as the statement sees it, or creates it. A concurrent write
	 * is noticed by the header, which then is no longer as it was seen.
	 */
	private static final String APPEND_OR_CREATE = """
			with seen as materialized (
				select pk as seen_pk, version as seen_version, turns as seen_turns, items as seen_items
				from {session} where key_hash = :key),
			u as (update {session} s set {raise}
				from seen
				where cast(:existing as boolean) and s.pk = seen_pk and s.version = seen_version
					and s.turns = seen_turns and s.items = seen_items and s.open_turn = 0
					and (s.expires_at is null or s.expires_at > {moment}) {unlessStored}
				returning {returned}),
			n as (insert into {session} as s ({headerColumns})
				select {firstHeader} where not exists (select 1 from seen)
				on conflict (key_hash) do nothing
				returning {returned}),
			s as (select * from u union all select * from n),
			""" + TURN;

	private final Sql openAll;

	private final Sql openTurns;

	private final Sql openItems;

	private final Sql openHeader;

	private final Sql log;

	private final Sql wholeLog;

	private final Append append;

	private final Append appendOrCreate;

	private final PostgresCommits commits;

	private final PortableStatements portable;

	PostgresStatements(Templates templates) {
		this.openAll = templates.sql(OPEN_ALL);
		this.openTurns = templates.sql(OPEN_TURNS);
		this.openItems = templates.sql(OPEN_ITEMS);
		this.openHeader = templates.sql(OPEN_HEADER);
		this.log = templates.sql(LOG);
		this.wholeLog = templates.sql(WHOLE_LOG);
		this.append = Append.of(templates, APPEND);
		this.appendOrCreate = Append.of(templates, APPEND_OR_CREATE);
		this.commits = new PostgresCommits(templates);
		this.portable = new PortableStatements(templates);
	}

	/**
	 * The two forms of one way to append.
	 *
	 * @param turn appends a turn with all its items in its row
	 * @param turnAndItems appends items in rows of their own too
	 */
	private record Append(Sql turn, Sql turnAndItems) {

		static Append of(Templates templates, String template) {
			return new Append(templates.sql(phrased(template + RESULT)),
					templates.sql(phrased(template + ITEMS.replace("{number}", "s.turns") + RESULT)));
		}

		private static String phrased(String template) {
			return template.replace("{raise}", AppendPhrases.RAISE_HEADER)
				.replace("{unlessStored}", UNLESS_STORED)
				.replace("{firstHeader}", AppendPhrases.FIRST_HEADER)
				.replace("{headerColumns}", AppendPhrases.HEADER_COLUMNS)
				.replace("{turnColumns}", AppendPhrases.TURN_COLUMNS)
				.replace("{turnOfHeader}", AppendPhrases.TURN_OF_HEADER)
				.replace("{given}", AppendPhrases.GIVEN)
				.replace("{returned}", RETURNED)
				.replace("{moment}", "{statementTime}");
		}

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
			.with("items", (long) window.items());
		return open(window).first(connection, params, PostgresStatements::opened);
	}

	private Sql open(Window window) {
		if (window.isEmpty()) {
			return this.openHeader;
		}
		if (window.equals(Window.ALL)) {
			return this.openAll;
		}
		return (window.items() == Integer.MAX_VALUE) ? this.openTurns : this.openItems;
	}

	private static OpenedRows opened(ResultSet row) throws SQLException {
		HeaderRow header = Columns.packedHeader((Long[]) array(row, 2), (String[]) array(row, 3));
		RecordRow summary = (row.getObject(4) != null) ? summary((String[]) array(row, 4)) : null;
		List<ItemRow> items = (row.getObject(5) != null) ? items((@Nullable String[][]) array(row, 5)) : List.of();
		return new OpenedRows(header, summary, items, OpenedCollector.extent(row.getInt(1)));
	}

	private static Object array(ResultSet row, int column) throws SQLException {
		return row.getArray(column).getArray();
	}

	private static RecordRow summary(@Nullable String[] texts) {
		return new RecordRow(number(texts[0]), number(texts[1]), (texts[2] != null) ? Long.valueOf(texts[2]) : null,
				Objects.requireNonNull(texts[3]));
	}

	private static List<ItemRow> items(@Nullable String[][] rows) {
		List<ItemRow> items = new ArrayList<>();
		for (var row : rows) {
			if (row[2] == null) {
				items.addAll(PackedItems.read(number(row[0]), number(row[1]), row[4]));
			}
			else {
				items.add(new ItemRow(number(row[0]), number(row[1]), number(row[2]), (int) number(row[3]),
						Objects.requireNonNull(row[4])));
			}
		}
		items.sort(Comparator.comparingLong(ItemRow::sequence));
		return items;
	}

	private static long number(@Nullable String text) {
		return Long.parseLong(Objects.requireNonNull(text));
	}

	/**
	 * {@inheritDoc}
	 * <p>
	 * One statement, unless the items before one are requested: these are looked for.
	 */
	@Override
	public List<ItemRow> log(Connection connection, String key, Tail tail) throws SQLException {
		if (tail.before() != Long.MAX_VALUE) {
			return this.portable.log(connection, key, tail);
		}
		Params params = Params.of("key", key)
			.with("turns", (long) Integer.MAX_VALUE)
			.with("items", (long) tail.limit());
		ItemCollector items = new ItemCollector();
		((tail.limit() == Integer.MAX_VALUE) ? this.wholeLog : this.log).each(connection, params, items);
		return items.newest(tail.limit());
	}

	@Override
	public @Nullable CommitResult append(Connection connection, EncodedCommit commit) throws SQLException {
		NewItems items = NewItems.of(commit.plainTurn());
		Expect expect = commit.commit().expect();
		Params params = AppendPhrases.params(commit, items).with("existing", expect == Expect.ANY);
		Append append = (expect == Expect.UNCHANGED) ? this.append : this.appendOrCreate;
		int count = commit.plainTurn().items().size();
		if (items.apart().isEmpty()) {
			return append.turn().first(connection, params, (row) -> committed(row, count));
		}
		return append.turnAndItems()
			.first(connection, withItems(params, items.apart()), (row) -> committed(row, count));
	}

	@Override
	public boolean makes(EncodedCommit commit) {
		return PostgresCommits.makes(commit);
	}

	@Override
	public @Nullable CommitResult commit(Connection connection, EncodedCommit commit) throws SQLException {
		return this.commits.make(connection, commit);
	}

	private static CommitResult committed(ResultSet row, int count) throws SQLException {
		return new CommitResult(Outcome.COMMITTED, row.getLong(1), row.getLong(2),
				AppendPhrases.firstItem(row.getLong(3), count));
	}

	static Params withItems(Params params, List<NewItems.Apart> items) {
		return params.with("places", items.stream().map((item) -> (long) item.place()).toArray(Long[]::new))
			.with("ats", items.stream().map(NewItems.Apart::at).toArray(Long[]::new))
			.with("sizes", items.stream().map((item) -> (long) item.tokens()).toArray(Long[]::new))
			.with("bodies", items.stream().map(NewItems.Apart::body).toArray(String[]::new));
	}

}
