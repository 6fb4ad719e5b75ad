package io.sessionkit.store.jdbc;

import io.sessionkit.Session;
import io.sessionkit.internal.row.EncodedCommit;
import io.sessionkit.internal.row.Micros;
import io.sessionkit.internal.row.NewItems;
import io.sessionkit.internal.row.TurnIds;
import io.sessionkit.internal.sql.Params;

/**
 * The SQL phrases that all ways to append a completed turn share. Assignments read
 * columns only before they are set, because MySQL evaluates them from left to right;
 * <code>{moment}</code> is the time of the statement.
 */
final class AppendPhrases {

	/** The time to live of the session from now on. */
	private static final String LIFE = "nullif(coalesce(:ttl, ttl), 0)";

	/** The times of a header that is written now. */
	static final String LIVES_ON = """
			updated_at = {moment}, expires_at = {moment} + {life},
			purge_at = case
				when purge_at >= {moment} + {life} and purge_at <= {moment} + {life} + {life} / {slack} then purge_at
				else {moment} + {life} + {life} / {slack} end,
			ttl = {life}""".replace("{life}", LIFE).replace("{slack}", Long.toString(Micros.LIVES_PER_SLACK));

	/** The number of turns of a view that a turn counts as: 0 if it has no items. */
	static final String ONE_TURN = "case when :count > 0 then 1 else 0 end";

	/** The header with one more turn, which continues the run or starts a new one. */
	static final String RAISE_HEADER = """
			version = version + :step, items = items + :count,
			run_lo = case when head = turns then run_lo else turns + 1 end,
			run_parent = case when head = turns then run_parent else head end,
			head = turns + 1, turns = turns + 1,
			view_turns = view_turns + {one}, view_items = view_items + :count, view_tokens = view_tokens + :tokens,
			title = coalesce(:title, title), tags = coalesce(:tags, tags), settings = coalesce(:settings, settings),
			attributes = coalesce(:attributes, attributes),
			stamp_3 = case when appended = stamp then stamp_2 end,
			stamp_2 = case when appended = stamp then stamp_1 end,
			stamp_1 = stamp, appended = :stamp,
			stamp = :stamp,\s""".replace("{one}", ONE_TURN) + LIVES_ON;

	static final String HEADER_COLUMNS = """
			key_hash, incarnation, owner_hash, owner, id, version, turns, items, branch, head, run_lo, run_parent,
			open_turn, summary_turn, summary_id, view_turns, view_items, view_tokens, title, tags, settings, attributes,
			ttl, stamp, created_at, updated_at, expires_at, purge_at""";

	/** A header with its first turn. */
	static final String FIRST_HEADER = """
			:key, :incarnation, :ownerHash, :owner, :id, 1, 1, :count, :main, 1, 1, 0,
			0, 0, null, {one}, :count, :tokens, :title, :tags, :settings, :attributes, :firstTtl, :stamp,
			{moment}, {moment}, {moment} + :firstTtl, {moment} + :firstPurge""".replace("{one}", ONE_TURN);

	/** A header with a first turn that is not its head. */
	static final String FIRST_HEADER_BESIDE = """
			:key, :incarnation, :ownerHash, :owner, :id, 1, 1, :count, :main, 0, 1, 0,
			{openTurn}, 0, null, 0, 0, 0, :title, :tags, :settings, null, :firstTtl, :stamp,
			{moment}, {moment}, {moment} + :firstTtl, {moment} + :firstPurge""";

	static final String TURN_COLUMNS = """
			session_pk, turn_no, turn_id, given_id, parent, run_lo, run_parent, branch, status, parts,
			first_item, apart, items, tokens, started_at, ended_at, attributes, origin, outcome, body""";

	/**
	 * The turn that a header <code>s</code> has just become the head of: the first turn
	 * of a run follows the parent of the run, the others follow their neighbour.
	 * <code>{given}</code> is null if the id names the number of the turn.
	 */
	static final String TURN_OF_HEADER = """
			s.pk, s.turns, :turn, {given},
			case when s.run_lo < s.turns then s.turns - 1 else s.run_parent end,
			s.run_lo, s.run_parent, s.branch, 'COMPLETED', 1, s.items - :count + 1, :apart,
			:count, :tokens, :startedAt, :endedAt, s.attributes, :origin, :outcome, :packed""";

	/** The same for a turn whose number only the statement knows. */
	static final String GIVEN = "case when s.turns = :place then null else :turn end";

	/** The check for a turn of this id; the second place is that which the id names. */
	private static final String UNLESS_STORED = """
			and not exists (select 1 from {turn} t where t.session_pk = pk and t.given_id = {exact :turn} {end})
			and not exists (select 1 from {turn} t
				where t.session_pk = pk and t.turn_no = :place and {exact t.turn_id} = {exact :turn} {end})
			""";

	static final String ITEM_COLUMNS = "session_pk, turn_no, seq, recorded_at, tokens, body";

	private AppendPhrases() {
	}

	static Params params(EncodedCommit commit, NewItems items) {
		Session base = commit.commit().base();
		return header(commit).number("version", (base != null) ? base.version() : null)
			.number("turns", (base != null) ? base.turns() : null)
			.number("items", (base != null) ? base.items() : null)
			.all(turn(commit.plainTurn(), items));
	}

	/** Returns the parameters that each statement which writes a turn takes from it. */
	static Params turn(EncodedCommit.EncodedTurn turn, NewItems items) {
		return Params.of("count", (long) turn.items().size())
			.with("tokens", (long) turn.tokens())
			.with("turn", turn.turn().id())
			.with("place", TurnIds.place(turn.turn().id()))
			.with("apart", items.apart().size())
			.with("startedAt", Micros.of(turn.turn().startedAt()))
			.number("endedAt", Micros.ofNullable(turn.turn().endedAt()))
			.text("origin", turn.origin())
			.text("outcome", turn.outcome())
			.text("packed", items.packed());
	}

	/** Returns the parameters that a header takes from a commit. */
	static Params header(EncodedCommit commit) {
		return new Params().with("key", commit.key().session())
			.with("ownerHash", commit.key().owner())
			.with("owner", commit.commit().key().owner())
			.with("id", commit.commit().key().id())
			.with("incarnation", commit.incarnation())
			.with("main", Session.MAIN)
			.text("title", commit.header().title())
			.text("tags", commit.header().tags())
			.text("settings", commit.header().settings())
			.text("attributes", commit.header().attributes())
			.number("ttl", commit.header().timeToLive())
			.number("firstTtl", commit.firstTimeToLive())
			.with("stamp", commit.stamp())
			.with("step", commit.step())
			.number("firstPurge", Micros.withSlack(commit.firstTimeToLive()));
	}

	/** Returns the parameters of an item that has a row of its own. */
	static Params item(NewItems.Apart item) {
		return new Params().with("at", item.at()).with("tokens", item.tokens()).text("body", item.body());
	}

	/**
	 * Returns the condition that a session has no turn of this id, in a statement that
	 * changes its header.
	 * @param end the end of each of its selects; empty for none
	 */
	static String unlessStored(String end) {
		return UNLESS_STORED.replace("{end}", end);
	}

	/**
	 * Returns the sequence of the first item if the last one is known; 0 without items.
	 */
	static long firstItem(long last, int count) {
		return (count > 0) ? last - count + 1 : 0;
	}

}
