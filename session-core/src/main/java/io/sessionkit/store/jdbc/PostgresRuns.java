package io.sessionkit.store.jdbc;

/**
 * The phrases of PostgreSQL that walk a path run by run. They begin with a table
 * <code>h</code> of one row, the end of the path, after <code>with recursive</code>.
 * <code>lateral</code> with <code>offset 0</code> or <code>limit</code> keeps the planner
 * from reading whole tables instead, whatever its statistics say. <code>limit 1</code>
 * where there is one row at most keeps it from taking a walk for one of many millions of
 * rows, which a server with a just-in-time compiler would compile first.
 */
final class PostgresRuns {

	/** All runs from the head back to the floor. */
	static final String ALL_RUNS = """
			, r(pk, floor, lo, hi, next) as (
				select pk, floor, greatest(run_lo, floor + 1), head, run_parent from h
				union all
				select r.pk, r.floor, greatest(t.run_lo, r.floor + 1), t.turn_no, t.run_parent
				from r cross join lateral (
					select t.run_lo, t.turn_no, t.run_parent from {turn} t
					where t.session_pk = r.pk and t.turn_no = r.next limit 1) t
				where r.next > r.floor)
			""";

	/**
	 * The runs from the head back to the floor, until they hold the requested turns.
	 * Turns are counted only if the run is not the last one; those without items do not
	 * count.
	 */
	private static final String RUNS_OF_TURNS = """
			, r(pk, floor, lo, hi, next, turns) as (
				select pk, floor, greatest(run_lo, floor + 1), head, run_parent, cast(:turns as bigint) from h
				union all
				select r.pk, r.floor, greatest(t.run_lo, r.floor + 1), t.turn_no, t.run_parent, c.turns
				from r cross join lateral (
					select r.turns - count(*) as turns from (
						select 1 from {turn} t
						where t.session_pk = r.pk and t.turn_no between r.lo and r.hi and t.items > 0
						order by t.turn_no desc limit r.turns) n) c
				cross join lateral (
					select t.run_lo, t.turn_no, t.run_parent from {turn} t
					where t.session_pk = r.pk and t.turn_no = r.next limit 1) t
				where r.next > r.floor and c.turns > 0)
			""";

	/** The requested turns: the newest ones of these runs that have items. */
	static final String REQUESTED_TURNS = RUNS_OF_TURNS + """
			, t as (
				select t.* from r cross join lateral (
					select t.session_pk, t.turn_no, t.first_item, t.items, t.apart, t.body from {turn} t
					where t.session_pk = r.pk and t.turn_no between r.lo and r.hi and t.items > 0
					order by t.turn_no desc limit r.turns) t)
			""";

	/** The same runs, but only until they hold the requested items. */
	static final String RUNS_OF_ITEMS = """
			, r(pk, floor, lo, hi, next, turns, items) as (
				select pk, floor, greatest(run_lo, floor + 1), head, run_parent, cast(:turns as bigint),
					cast(:items as bigint)
				from h
				union all
				select r.pk, r.floor, greatest(t.run_lo, r.floor + 1), t.turn_no, t.run_parent, c.turns, c.items
				from r cross join lateral (
					select r.turns - count(*) as turns, r.items - coalesce(sum(n.items), 0) as items from (
						select t.items from {turn} t
						where t.session_pk = r.pk and t.turn_no between r.lo and r.hi and t.items > 0
						order by t.turn_no desc limit least(r.turns, r.items)) n) c
				cross join lateral (
					select t.run_lo, t.turn_no, t.run_parent from {turn} t
					where t.session_pk = r.pk and t.turn_no = r.next limit 1) t
				where r.next > r.floor and c.turns > 0 and c.items > 0)
			""";

	/**
	 * The newest turns of these runs that have items, each with the number of items in it
	 * and in those after it. One more turn than requested is read, which shows which turn
	 * does not fit as a whole.
	 */
	static final String NEWEST_TURNS = """
			, x as (
				select t.*, sum(t.items) over (order by t.turn_no desc) as total
				from r cross join lateral (
					select t.session_pk, t.turn_no, t.first_item, t.items, t.apart, t.body from {turn} t
					where t.session_pk = r.pk and t.turn_no between r.lo and r.hi and t.items > 0
					order by t.turn_no desc limit least(r.turns, r.items + 1)) t)
			""";

	/** Those of them that fit as a whole. */
	static final String WHOLE_TURNS = NEWEST_TURNS + ", t as (select * from x where total <= :items) ";

	/** The end <code>e</code> of a path: a completed turn, or the beginning. */
	static final String END = """
			, e as materialized (
				select s.pk, t.turn_no as head, t.run_lo, t.run_parent, t.attributes
				from {from} s cross join lateral (
					select t.turn_no, t.run_lo, t.run_parent, t.attributes from {turn} t
					where t.session_pk = s.pk and t.turn_no = :end and t.status = 'COMPLETED' limit 1) t
				union all
				select s.pk, 0, 1, 0, null from {from} s where :end = 0 limit 1)
			""";

	private static final String COVERING = """
			(select r.covers, r.id from {record} r
			where r.session_pk = e.pk and r.kind = 'summary' and r.covers between {lo} and {hi}
				and (r.expires_at is null or r.expires_at > {moment})
			order by r.covers desc limit 1) f
			""";

	/**
	 * The runs from an end <code>e</code> back to the newest summary on the path, which
	 * the last row of <code>w</code> has, if there is one. Nothing is walked where there
	 * is none.
	 */
	private static final String NEWEST_SUMMARY = """
			, m as materialized (
				select min(r.covers) as least from {record} r
				where r.session_pk = (select pk from e) and r.kind = 'summary'
					and r.covers > 0 and (r.expires_at is null or r.expires_at > {moment}))
			, w(next, covers, id) as (
				select e.run_parent, f.covers, f.id from e left join lateral {first} on true
				union all
				select t.run_parent, f.covers, f.id
				from w cross join m cross join e cross join lateral (
					select t.run_lo, t.turn_no, t.run_parent from {turn} t
					where t.session_pk = e.pk and t.turn_no = w.next limit 1) t
				left join lateral {following} on true
				where w.covers is null and w.next >= m.least)
			""".replace("{first}", COVERING.replace("{lo}", "greatest(e.run_lo, 1)").replace("{hi}", "e.head"))
		.replace("{following}", COVERING.replace("{lo}", "t.run_lo").replace("{hi}", "t.turn_no"));

	/**
	 * The end <code>e</code> of a path as <code>h</code>, as if it were the head of the
	 * session: with its newest summary, and the totals <code>q</code> of the turns behind
	 * that. The floor is the last turn that the summary covers.
	 */
	static final String AS_HEAD = NEWEST_SUMMARY + """
			, h as materialized (
				select e.pk, coalesce(w.covers, 0) as floor, w.id as summary_id, e.head, e.run_lo, e.run_parent,
					e.attributes
				from e left join w on w.covers is not null limit 1)
			, g(lo, hi, next) as (
				select greatest(h.run_lo, h.floor + 1), h.head, h.run_parent from h
				union all
				select greatest(t.run_lo, h.floor + 1), t.turn_no, t.run_parent
				from g cross join h cross join lateral (
					select t.run_lo, t.turn_no, t.run_parent from {turn} t
					where t.session_pk = h.pk and t.turn_no = g.next limit 1) t
				where g.next > h.floor)
			, q as materialized (
				select count(*) filter (where t.items > 0) as turns, coalesce(sum(t.items), 0) as items,
				    coalesce(sum(t.tokens), 0) as tokens
				from g cross join h cross join lateral (
					select t.items, t.tokens from {turn} t
					where t.session_pk = h.pk and t.turn_no between g.lo and g.hi offset 0) t)
			""";

	private static final String TURNS_OF_RUNS = """
			r cross join lateral (
				select t.turn_no, t.first_item, t.items, t.body from {turn} t
				where t.session_pk = r.pk and t.turn_no between r.lo and r.hi order by t.turn_no offset 0) t
			""";

	private static final String ITEMS_OF_RUNS = """
			r cross join lateral (
				select i.* from {item} i
				where i.session_pk = r.pk and i.turn_no between r.lo and r.hi offset 0) i
			""";

	private static final String ITEMS_OF_TURNS = """
			t cross join lateral (
				select i.* from {item} i
				where t.apart > 0 and i.session_pk = t.session_pk and i.turn_no = t.turn_no offset 0) i
			""";

	private PostgresRuns() {
	}

	static String ofRuns(String template) {
		return template.replace("{turns}", TURNS_OF_RUNS).replace("{items}", ITEMS_OF_RUNS);
	}

	static String ofTurns(String template) {
		return template.replace("{turns}", "t").replace("{items}", ITEMS_OF_TURNS);
	}

}
