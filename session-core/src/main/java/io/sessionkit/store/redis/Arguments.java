package io.sessionkit.store.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

import io.sessionkit.Session;
import io.sessionkit.TurnStatus;
import io.sessionkit.internal.row.EncodedCommit;
import io.sessionkit.internal.row.EncodedCommit.EncodedTurn;
import io.sessionkit.internal.row.Micros;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.NewItem;
import io.sessionkit.store.RecordWrite;
import org.jspecify.annotations.Nullable;

/**
 * The arguments of a script, one after another. A missing value is an empty text.
 */
final class Arguments {

	private static final byte[] NONE = {};

	private static final int PARTS_OF_A_TURN = 13;

	private final List<byte[]> values = new ArrayList<>();

	/**
	 * Returns the arguments, followed by those that each script expects at the end.
	 * @param last the arguments at the end
	 */
	Object[] toArray(String... last) {
		List<byte[]> all = new ArrayList<>(this.values);
		for (String each : last) {
			all.add(RedisKeys.bytes(each));
		}
		return all.toArray();
	}

	Arguments with(@Nullable String text) {
		this.values.add((text != null) ? RedisKeys.bytes(text) : NONE);
		return this;
	}

	Arguments with(@Nullable Long number) {
		return with((number != null) ? number.toString() : null);
	}

	Arguments with(long number) {
		return with(Long.toString(number));
	}

	Arguments with(boolean yes) {
		return with(yes ? "1" : "0");
	}

	/** Adds a limit; {@link Integer#MAX_VALUE} means none. */
	Arguments withLimit(int limit) {
		return with((limit != Integer.MAX_VALUE) ? Long.valueOf(limit) : null);
	}

	Arguments with(RecordWrite write) {
		Duration timeToLive = write.timeToLive();
		return with(write.kind()).with(write.id())
			.with(write.expected())
			.with(write.first())
			.with(write.payload() != null)
			.with(write.payload())
			.with((timeToLive != null) ? Long.valueOf(Micros.of(timeToLive)) : null);
	}

	/**
	 * Creates the arguments of a commit, as <code>commit.lua</code> reads them.
	 * @param encoded the commit
	 * @param entries the entries of the session in the indexes
	 */
	static Arguments of(EncodedCommit encoded, IndexEntries entries) {
		Commit commit = encoded.commit();
		Session base = commit.base();
		Arguments all = new Arguments().with(commit.expect().name())
			.with((base != null) ? Long.valueOf(base.version()) : null)
			.with(encoded.incarnation())
			.with(commit.key().owner())
			.with(commit.key().id())
			.with(encoded.firstTimeToLive())
			.with(OwnerIndex.lag())
			.with(OwnerIndex.slack())
			.with(entries.haveSession())
			.with(entries.at())
			.with(entries.kinds().size());
		entries.kinds().forEach(all::with);
		all.withChange(encoded);
		all.withTurn(encoded.turn());
		all.with(commit.delete().size());
		new TreeSet<>(commit.delete()).forEach((sequence) -> all.with(sequence));
		all.with(commit.records().size());
		commit.records().forEach(all::with);
		return all;
	}

	private void withChange(EncodedCommit encoded) {
		HeaderChange.Head head = encoded.commit().header().head();
		HeaderChange.Summary summary = encoded.commit().header().summary();
		with(encoded.header().title()).with(encoded.header().tags())
			.with(encoded.header().attributes())
			.with(encoded.header().timeToLive())
			.with((head != null) ? head.branch() : null)
			.with((head != null) ? Long.valueOf(head.turn()) : null)
			.with((summary != null) ? Long.valueOf(summary.turn()) : null)
			.with((summary != null) ? summary.id() : null);
	}

	private void withTurn(@Nullable EncodedTurn turn) {
		if (turn == null) {
			withNoTurn();
			return;
		}
		TurnStatus status = turn.turn().status();
		with(turn.turn().id()).with(turn.part())
			.with(turn.isCompleted())
			.with(status.isOpen())
			.with(status.name())
			.with(turn.turn().parent())
			.with(turn.turn().branch())
			.with(Micros.of(turn.turn().startedAt()))
			.with(Micros.ofNullable(turn.turn().endedAt()))
			.with(turn.origin())
			.with(turn.outcome())
			.with(turn.tokens())
			.with(turn.items().size());
		withItems(turn);
	}

	private void withNoTurn() {
		for (int i = 0; i < PARTS_OF_A_TURN; i++) {
			with((String) null);
		}
	}

	private void withItems(EncodedTurn turn) {
		for (int i = 0; i < turn.items().size(); i++) {
			NewItem item = turn.items().get(i);
			with(Micros.of(item.at())).with(item.tokens()).with(turn.bodies().get(i));
		}
	}

}
