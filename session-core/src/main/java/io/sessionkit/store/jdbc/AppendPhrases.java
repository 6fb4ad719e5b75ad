package io.sessionkit.store.jdbc;

import io.sessionkit.Session;
import io.sessionkit.internal.row.EncodedCommit;
import io.sessionkit.internal.row.Micros;
import io.sessionkit.store.NewItem;

/**
 * The SQL phrases that all ways to append a completed turn share. Assignments read
 * columns only before they are set, because MySQL evaluates them from left to right;
 * <code>{moment}</code> is the time of the statement.
 */
final class AppendPhrases {

	/** The time to live of the session from now on. */
	private static final String LIFE = "nullif(coalesce(:ttl, ttl), 0)";

	/** The header with one more turn, which continues the run or starts a new one. */
	static final String RAISE_HEADER = """
			version = version + 1, items = items + :count,
			run_lo = case when head = turns then run_lo else turns + 1 end,
			run_parent = case when head = turns then run_parent else head end,
			head = turns + 1, turns = turns + 1,
			view_turns = view_turns + 1, view_items = view_items + :count, view_tokens = view_tokens + :tokens,
			title = coalesce(:title, title), tags = coalesce(:tags, tags), state = coalesce(:state, state),
			stamp = :stamp, updated_at = {moment}, expires_at = {moment} + {life},
			purge_at = case
				when purge_at >= {moment} + {life} and purge_at <= {moment} + {life} + {life} / {slack} then purge_at
				else {moment} + {life} + {life} / {slack} end,
			ttl = {life}""".replace("{life}", LIFE).replace("{slack}", Long.toString(Micros.LIVES_PER_SLACK));

	static final String HEADER_COLUMNS = """
			key_hash, incarnation, owner_hash, owner, id, version, turns, items, branch, head, run_lo, run_parent,
			open_turn, cp, cp_id, view_turns, view_items, view_tokens, title, tags, state, ttl, stamp,
			created_at, updated_at, expires_at, purge_at""";

	/** A header with its first turn. */
	static final String FIRST_HEADER = """
			:key, :incarnation, :ownerHash, :owner, :id, 1, 1, :count, :branch, 1, 1, 0,
			0, 0, null, 1, :count, :tokens, :title, :tags, :state, :firstTtl, :stamp,
			{moment}, {moment}, {moment} + :firstTtl, {moment} + :firstPurge""";

	static final String TURN_COLUMNS = """
			session_pk, turn_no, turn_id, parent, run_lo, run_parent, cp, cp_id, branch, status, parts,
			items, tokens, started_at, ended_at, state, origin, outcome""";

	/**
	 * The turn that a header <code>s</code> has just become the head of: the first turn
	 * of a run follows the parent of the run, the others follow their neighbour.
	 */
	static final String TURN_OF_HEADER = """
			s.pk, s.turns, :turn, case when s.run_lo < s.turns then s.turns - 1 else s.run_parent end,
			s.run_lo, s.run_parent, s.cp, s.cp_id, s.branch, 'COMPLETED', 1,
			:count, :tokens, :startedAt, :endedAt, s.state, :origin, :outcome""";

	static final String ITEM_COLUMNS = "session_pk, turn_no, seq, role, recorded_at, tokens, body";

	private AppendPhrases() {
	}

	static Params params(EncodedCommit commit) {
		EncodedCommit.EncodedTurn turn = commit.plainTurn();
		Session base = commit.commit().base();
		return new Params().with("key", commit.key().session())
			.with("ownerHash", commit.key().owner())
			.with("owner", commit.commit().key().owner())
			.with("id", commit.commit().key().id())
			.with("version", (base != null) ? base.version() : null)
			.with("turns", (base != null) ? base.turns() : null)
			.with("items", (base != null) ? base.items() : null)
			.with("incarnation", commit.incarnation())
			.with("branch", Session.MAIN)
			.with("count", (long) turn.items().size())
			.with("tokens", (long) turn.tokens())
			.text("title", commit.header().title())
			.text("tags", commit.header().tags())
			.text("state", commit.header().attributes())
			.with("ttl", commit.header().timeToLive())
			.with("firstTtl", commit.firstTimeToLive())
			.with("stamp", commit.stamp())
			.with("firstPurge", Micros.withSlack(commit.firstTimeToLive()))
			.with("turn", turn.turn().id())
			.with("startedAt", Micros.of(turn.turn().startedAt()))
			.with("endedAt", Micros.ofNullable(turn.turn().endedAt()))
			.text("origin", turn.origin())
			.text("outcome", turn.outcome());
	}

	/** Returns the parameters of one item of a turn. */
	static Params item(NewItem item, String body) {
		return new Params().with("role", role(item))
			.with("at", Micros.of(item.at()))
			.with("tokens", item.tokens())
			.text("body", body);
	}

	static String role(NewItem item) {
		return item.message().getMessageType().name();
	}

	/**
	 * Returns the sequence of the first item if the last one is known; 0 without items.
	 */
	static long firstItem(long last, int count) {
		return (count > 0) ? last - count + 1 : 0;
	}

}
