package io.sessionkit.store.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.sessionkit.Session;
import io.sessionkit.internal.row.EncodedCommit;
import io.sessionkit.internal.row.EncodedCommit.EncodedTurn;
import io.sessionkit.internal.row.NewItems;
import io.sessionkit.internal.sql.Params;
import io.sessionkit.internal.sql.Sql;
import io.sessionkit.internal.sql.SqlErrors;
import io.sessionkit.internal.sql.Templates;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.CommitResult.Outcome;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.Oldest;
import io.sessionkit.store.SessionStore;
import org.jspecify.annotations.Nullable;

/**
 * Makes the commits that do more than append one turn, but do not delete, with one
 * statement: a turn that waits or has failed, a later part of the open turn, a new
 * summary, another head, a turn that takes the place of another one, and records with any
 * of these. Sessions are created only by a turn.
 * <p>
 * The statement writes if the session is as the commit expects, and as
 * {@link GeneralCommit} would find it in the usual case; otherwise it writes nothing. If
 * one of its records is not as expected, it divides by zero, which undoes the rest.
 */
final class PostgresCommits {

	/** The values that are kept unless the commit changes them. */
	private static final String DETAILS = """
			title = coalesce(:title, title), tags = coalesce(:tags, tags), settings = coalesce(:settings, settings),\s""";

	/** The session as the statement sees it, if it is as expected. */
	private static final String SEEN = """
			with seen as materialized (
				select s.pk as seen_pk, s.stamp as seen_stamp {seenColumns}
				from {session} s {seenTables}
				where s.key_hash = :key and (s.expires_at is null or s.expires_at > {moment})
					and {expected} and {usual}),
			s as (update {session} s set {changes}
				from seen where s.pk = seen_pk and s.stamp = seen_stamp
				returning s.pk, s.version, s.turns, s.items, s.head, s.run_lo, s.run_parent, s.summary_turn, s.summary_id, s.branch,
					s.attributes, {number} as number)
			""";

	/** A new session. */
	private static final String CREATED = """
			with s as (insert into {session} as s ({headerColumns}) values ({firstHeader})
				on conflict (key_hash) do nothing
				returning s.pk, s.version, s.turns, s.items, s.head, s.run_lo, s.run_parent, s.summary_turn, s.summary_id, s.branch,
					s.attributes, s.turns as number)
			"""
		.replace("{headerColumns}", AppendPhrases.HEADER_COLUMNS);

	private static final String UNCHANGED = "s.version = :version and s.incarnation = :incarnation";

	/** A turn that does not become the head; its parent is the head of now. */
	private static final String BEGUN = """
			, t as (insert into {turn} ({turnColumns})
				select s.pk, s.turns, :turn, {given}, s.head,
					case when s.head = s.turns - 1 then s.run_lo else s.turns end,
					case when s.head = s.turns - 1 then s.run_parent else s.head end,
					:branch, :status, 1, s.items - :count + 1, :apart, :count, :tokens, :startedAt, :endedAt,
					cast(null as text), :origin, :outcome, :packed
				from s returning 1)
			""".replace("{turnColumns}", AppendPhrases.TURN_COLUMNS).replace("{given}", AppendPhrases.GIVEN);

	private static final String APPENDED = """
			, t as (insert into {turn} ({turnColumns}) select {turnOfHeader} from s returning 1)
			""".replace("{turnColumns}", AppendPhrases.TURN_COLUMNS)
		.replace("{turnOfHeader}", AppendPhrases.TURN_OF_HEADER)
		.replace("{given}", AppendPhrases.GIVEN);

	private static final String CONTINUED = """
			, t as (update {turn} t set status = :status, parts = t.parts + 1, items = t.items + :count,
					apart = t.apart + :apart, tokens = t.tokens + :tokens, ended_at = :endedAt, outcome = :outcome {attributes}
				from s where t.session_pk = (select pk from s) and t.turn_no = (select number from s)
					and t.parts = :part
				returning 1)
			""";

	private static final String ATTRIBUTES = ", attributes = s.attributes";

	private static final String OPEN_TURN = """
			cross join lateral (
				select t.turn_no, t.parent, t.run_lo, t.run_parent, t.items, t.tokens from {turn} t
				where t.session_pk = s.pk and t.turn_no = s.open_turn and t.turn_id = :turn and t.parts = :part
				limit 1) t
			""";

	private static final String COLUMNS_OF_OPEN_TURN = """
			, t.turn_no as turn_no, t.run_lo as turn_lo, t.run_parent as turn_run, t.items as turn_items,
				t.tokens as turn_tokens""";

	/** The open turn becomes the head. */
	private static final String HEAD = """
			version = s.version + :step, items = s.items + :count, open_turn = 0, head = turn_no, run_lo = turn_lo,
			run_parent = turn_run, view_turns = s.view_turns + case when turn_items + :count > 0 then 1 else 0 end,
			view_items = s.view_items + turn_items + :count,
			view_tokens = s.view_tokens + turn_tokens + :tokens, attributes = coalesce(:attributes, attributes),\s""";

	/** The turns after the summary, which are all in the last run. */
	private static final String AFTER_SUMMARY = """
			cross join lateral (
				select count(*) filter (where t.items > 0) as left_turns, coalesce(sum(t.items), 0) as left_items,
					coalesce(sum(t.tokens), 0) as left_tokens
				from {turn} t
				where t.session_pk = s.pk and t.turn_no >= greatest(s.run_lo, :summaryTurn + 1) and t.turn_no <= s.head) v
			""";

	private static final String SUMMARIZED = """
			summary_turn = :summaryTurn, summary_id = :summaryId, view_turns = left_turns,
			view_items = left_items, view_tokens = left_tokens,\s""";

	/** Each turn is the last one of one summary. */
	private static final String UNCOVERED = """
			, n as (update {record} r set covers = null
				where r.session_pk = (select pk from s) and r.kind = 'summary' and r.covers = :summaryTurn and r.id <> :summaryId)
			""";

	/**
	 * The session with another head. The totals and the summary there are read first, as
	 * of the same moment.
	 */
	private static final String MOVED = """
			with recursive seen as materialized (
				select s.pk, s.stamp from {session} s
				where s.key_hash = :key and (s.expires_at is null or s.expires_at > {moment})
					and {expected} and s.open_turn = 0 {unlessStored})
			{asHead},
			s as (update {session} s set branch = :headBranch, summary_turn = h.floor, summary_id = h.summary_id, {changes}
				from seen, h, q where s.pk = seen.pk and s.stamp = seen.stamp
				returning s.pk, s.version, s.turns, s.items, s.head, s.run_lo, s.run_parent, s.summary_turn, s.summary_id, s.branch,
					s.attributes, {number} as number)
			"""
		.replace("{asHead}", PostgresRuns.END.replace("{from}", "seen") + PostgresRuns.AS_HEAD);

	/**
	 * The changes if the head moves to the turn <code>h</code>. If that turn is in the
	 * last run of the header, the run still begins where it did.
	 */
	private static final String TO_TURN = """
			version = s.version + :step, head = h.head,
			run_lo = case when h.head between s.run_lo and s.head then s.run_lo else h.run_lo end,
			run_parent = case when h.head between s.run_lo and s.head then s.run_parent else h.run_parent end,
			attributes = h.attributes,
			view_turns = q.turns, view_items = q.items, view_tokens = q.tokens,\s""";

	/**
	 * The changes if a new turn follows the turn <code>h</code>, and becomes the head.
	 */
	private static final String TO_NEW_TURN = """
			version = s.version + :step, turns = s.turns + 1, items = s.items + :count, head = s.turns + 1,
			run_lo = case when h.head = s.turns then h.run_lo else s.turns + 1 end,
			run_parent = case when h.head = s.turns then h.run_parent else h.head end,
			attributes = coalesce(:attributes, h.attributes), view_turns = q.turns + {one}, view_items = q.items + :count,
			view_tokens = q.tokens + :tokens,\s"""
		.replace("{one}", AppendPhrases.ONE_TURN);

	/**
	 * Deletes the oldest turns, as {@link OldestTurns} does, unless the newest summary
	 * before them is further back than in the last run: only the general way finds it.
	 */
	private static final String OLDEST = """
			with recursive seen as materialized (
				select s.pk, s.stamp, s.head, s.run_lo, s.run_parent, s.summary_turn
				from {session} s
				where s.key_hash = :key and (s.expires_at is null or s.expires_at > {moment})
					and {expected} and s.head >= :before and (s.open_turn = 0 or s.open_turn >= :before)),
			g(lo, hi, next) as (
				select run_lo, head, run_parent from seen
				union all
				select t.run_lo, t.turn_no, t.run_parent
				from g cross join seen h cross join lateral (
					select t.run_lo, t.turn_no, t.run_parent from {turn} t
					where t.session_pk = h.pk and t.turn_no = g.next limit 1) t
				where g.lo > :before and g.next >= :before),
			b as materialized (select lo, hi, next from g order by hi limit 1),
			z as materialized (
				select coalesce(t.turn_no, 0) as no, coalesce(t.run_lo, 1) as lo, coalesce(t.run_parent, 0) as next
				from b cross join seen h left join lateral (
					select t.turn_no, t.run_lo, t.run_parent from {turn} t
					where t.session_pk = h.pk and t.turn_no = case when b.lo < :before then :before - 1 else b.next end
					limit 1) t on true),
			y as materialized (
				select r.covers from z cross join {record} r
				where r.session_pk = (select pk from seen) and r.kind = 'summary' and r.covers > 0 and r.covers < z.no
					and (r.expires_at is null or r.expires_at > {moment})),
			m as materialized (
				select (select max(y.covers) from y where y.covers >= z.lo or y.covers = z.next) as covers,
					exists (select 1 from y where y.covers < z.next) as further from z),
			q as materialized (
				select count(*) filter (where t.items > 0) as turns, coalesce(sum(t.items), 0) as items,
					coalesce(sum(t.tokens), 0) as tokens
				from g cross join seen h cross join lateral (
					select t.items, t.tokens from {turn} t
					where t.session_pk = h.pk and t.turn_no between greatest(g.lo, :before, h.summary_turn + 1) and g.hi
					offset 0) t),
			s as (update {session} s set version = s.version + :step,
					run_lo = case when b.hi = s.head then greatest(b.lo, :before) else s.run_lo end,
					run_parent = case when b.hi = s.head then z.no else s.run_parent end,
					view_turns = q.turns, view_items = q.items, view_tokens = q.tokens, stamp = :stamp, {livesOn}
				from seen, b, z, m, q
				where s.pk = seen.pk and s.stamp = seen.stamp and (z.no = 0 or z.no >= :from)
					and (m.covers is not null or not m.further)
				returning s.pk, s.version, s.items, cast(0 as bigint) as number),
			o as (update {turn} t set {emptied},
					run_lo = case when t.turn_no = z.no then z.no else t.run_lo end,
					run_parent = case when t.turn_no = z.no then coalesce(m.covers, 0) else t.run_parent end
				from z, m where t.session_pk = (select pk from s) and t.turn_no >= :from and t.turn_no < :before),
			e as (delete from {item} i
				where i.session_pk = (select pk from s) and i.turn_no >= :from and i.turn_no < :before),
			u as (update {turn} t set run_lo = greatest(b.lo, :before), run_parent = z.no
				from b, z, seen
				where t.session_pk = (select pk from s) and t.turn_no = (select hi from b) and b.hi < seen.head)
			""".replace("{emptied}", OldestTurns.EMPTIED).replace("{livesOn}", AppendPhrases.LIVES_ON);

	private final Templates templates;

	private final Map<String, Sql> statements = new ConcurrentHashMap<>();

	PostgresCommits(Templates templates) {
		this.templates = templates;
	}

	/**
	 * Returns whether a commit is one of these.
	 */
	static boolean makes(EncodedCommit encoded) {
		Commit commit = encoded.commit();
		HeaderChange header = commit.header();
		EncodedTurn turn = encoded.turn();
		boolean becomesHead = turn != null && turn.isCompleted();
		HeaderChange.Summary summary = header.summary();
		boolean creates = commit.expect() == Commit.Expect.ABSENT;
		return (!creates || (turn != null && turn.part() == 0)) && commit.delete().isEmpty()
				&& (header.head() == null || movesAlone(commit, turn))
				&& (encoded.header().attributes() == null || becomesHead)
				&& (summary == null
						|| (turn == null && summary.turn() > 0 && PostgresRecords.insert(commit.records(), summary)))
				&& (turn != null || moves(commit)) && isPlain(encoded) && PostgresRecords.makes(commit.records());
	}

	/**
	 * Returns whether the move depends on nothing that the commit writes itself.
	 */
	private static boolean movesAlone(Commit commit, @Nullable EncodedTurn turn) {
		return commit.expect() != Commit.Expect.ABSENT && commit.header().summary() == null
				&& (turn == null || (turn.isCompleted() && turn.part() == 0))
				&& commit.records().stream().noneMatch((record) -> record.kind().equals(SessionStore.SUMMARY));
	}

	private static boolean isPlain(EncodedCommit commit) {
		EncodedTurn turn = commit.turn();
		return commit.earlier().isEmpty() && (turn == null
				|| (!turn.beside() && turn.attributes() == null && (turn.turn().number() == 0 || turn.part() > 0)));
	}

	private static boolean moves(Commit commit) {
		return !commit.header().equals(HeaderChange.NONE) || !commit.records().isEmpty() || commit.oldest() != null;
	}

	/**
	 * Makes a commit.
	 * @return the result; null if the session or a record is not as expected, or the
	 * usual case is not that of this session. Nothing is written then
	 * @throws SQLException also if a record is not as expected, see
	 * {@link SqlErrors#isUndone}
	 */
	@Nullable CommitResult make(Connection connection, EncodedCommit commit) throws SQLException {
		EncodedTurn turn = commit.turn();
		NewItems items = (turn != null) ? NewItems.of(turn) : new NewItems(null, List.of());
		PostgresRecords records = PostgresRecords.of(commit.commit().records(), commit.commit().header().summary());
		Sql sql = this.statements.computeIfAbsent(statement(commit, items, records), this.templates::sql);
		int count = items(turn);
		return sql.first(connection, params(commit, items).all(records.params()), (row) -> result(row, count));
	}

	private static int items(@Nullable EncodedTurn turn) {
		return (turn != null) ? turn.items().size() : 0;
	}

	private static CommitResult result(ResultSet row, int count) throws SQLException {
		return new CommitResult(Outcome.COMMITTED, row.getLong(1), row.getLong(2),
				AppendPhrases.firstItem(row.getLong(3), count));
	}

	private static String statement(EncodedCommit commit, NewItems items, PostgresRecords records) {
		boolean unchanged = commit.commit().expect() == Commit.Expect.UNCHANGED;
		String sql = written(commit).replace("{expected}", unchanged ? UNCHANGED : "true")
				+ (items.apart().isEmpty() ? "" : PostgresStatements.ITEMS.replace("{number}", "s.number"))
				+ records.statements() + " select version, number, items, 1 / (case when " + records.checks()
				+ ((commit.turn() != null) ? " and (select count(*) from t) = 1" : "") + " then 1 else 0 end) from s";
		return sql.replace("{moment}", "{statementTime}");
	}

	private static String written(EncodedCommit commit) {
		EncodedTurn turn = commit.turn();
		if (commit.commit().header().head() != null) {
			return (turn != null) ? moved(TO_NEW_TURN, PostgresStatements.UNLESS_STORED, "s.turns") + APPENDED
					: moved(TO_TURN, "", "0");
		}
		if (commit.commit().oldest() != null) {
			return OLDEST;
		}
		if (turn == null) {
			return (commit.commit().header().summary() != null) ? summarized() : changed();
		}
		if (turn.part() > 0) {
			return continued(turn, moves(commit.commit()));
		}
		if (commit.commit().expect() == Commit.Expect.ABSENT) {
			return created(turn);
		}
		return turn.isCompleted() ? appended() : begun(turn, moves(commit.commit()));
	}

	private static String moved(String changes, String unlessStored, String number) {
		return MOVED.replace("{changes}", changes + DETAILS + "stamp = :stamp, " + AppendPhrases.LIVES_ON)
			.replace("{unlessStored}", unlessStored)
			.replace("{number}", number);
	}

	private static String changed() {
		return seen("version = s.version + :step, ", "", "", "true", "0");
	}

	private static String summarized() {
		return seen("version = s.version + :step, " + SUMMARIZED, ", left_turns, left_items, left_tokens",
				AFTER_SUMMARY, ":summaryTurn <= s.head and (:summaryTurn >= s.run_lo or :summaryTurn = s.run_parent)",
				"0") + UNCOVERED;
	}

	private static String created(EncodedTurn turn) {
		String beside = AppendPhrases.FIRST_HEADER_BESIDE.replace("{openTurn}",
				turn.turn().status().isOpen() ? "1" : "0");
		return turn.isCompleted() ? CREATED.replace("{firstHeader}", AppendPhrases.FIRST_HEADER) + APPENDED
				: CREATED.replace("{firstHeader}", beside) + BEGUN;
	}

	private static String appended() {
		return SEEN.replace("{changes}", AppendPhrases.RAISE_HEADER)
			.replace("{seenColumns}", "")
			.replace("{seenTables}", "")
			.replace("{usual}", "s.open_turn = 0 " + PostgresStatements.UNLESS_STORED)
			.replace("{number}", "s.turns") + APPENDED;
	}

	private static String begun(EncodedTurn turn, boolean moves) {
		boolean open = turn.turn().status().isOpen();
		String changes = "version = s.version + " + (moves ? ":step" : "0")
				+ ", turns = s.turns + 1, items = s.items + :count, " + (open ? "open_turn = s.turns + 1, " : "");
		String usual = "s.head = :parent " + (open ? "and s.open_turn = 0 " : "") + PostgresStatements.UNLESS_STORED;
		return seen(changes, "", "", usual, "s.turns") + BEGUN;
	}

	private static String continued(EncodedTurn turn, boolean moves) {
		if (turn.isCompleted()) {
			return seen(HEAD, COLUMNS_OF_OPEN_TURN, OPEN_TURN, "t.parent = s.head", "turn_no")
					+ CONTINUED.replace("{attributes}", ATTRIBUTES);
		}
		String changes = "version = s.version + " + (moves ? ":step" : "0") + ", items = s.items + :count, "
				+ (turn.turn().status().isOpen() ? "" : "open_turn = 0, ");
		return seen(changes, COLUMNS_OF_OPEN_TURN, OPEN_TURN, "true", "turn_no")
				+ CONTINUED.replace("{attributes}", "");
	}

	private static String seen(String changes, String columns, String tables, String usual, String number) {
		return SEEN.replace("{changes}", changes + DETAILS + "stamp = :stamp, " + AppendPhrases.LIVES_ON)
			.replace("{seenColumns}", columns)
			.replace("{seenTables}", tables)
			.replace("{usual}", usual)
			.replace("{number}", number);
	}

	private static Params params(EncodedCommit commit, NewItems items) {
		Session base = commit.commit().base();
		HeaderChange.Summary summary = commit.commit().header().summary();
		HeaderChange.Head head = commit.commit().header().head();
		Params params = AppendPhrases.header(commit)
			.with("end", (head != null) ? head.turn() : null)
			.with("headBranch", (head != null) ? head.branch() : null)
			.with("version", (base != null) ? base.version() : null)
			.with("summaryTurn", (summary != null) ? summary.turn() : null)
			.with("summaryId", (summary != null) ? summary.id() : null);
		Oldest oldest = commit.commit().oldest();
		if (oldest != null) {
			params.with("from", oldest.from()).with("before", oldest.before());
		}
		return (commit.turn() != null) ? params.all(turn(commit.turn(), items)) : params;
	}

	private static Params turn(EncodedTurn turn, NewItems items) {
		return PostgresStatements.withItems(AppendPhrases.turn(turn, items), items.apart())
			.with("part", (long) turn.part())
			.with("parent", turn.turn().parent())
			.with("branch", turn.turn().branch())
			.with("status", turn.turn().status().name());
	}

}
