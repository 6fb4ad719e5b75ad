package io.sessionkit.store.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

import io.sessionkit.Session;
import io.sessionkit.TurnStatus;
import io.sessionkit.internal.row.EncodedCommit;
import io.sessionkit.internal.row.EncodedCommit.EncodedTurn;
import io.sessionkit.internal.row.Micros;
import io.sessionkit.internal.row.TurnIds;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.NewItem;
import io.sessionkit.store.Oldest;

/**
 * The arguments of a commit.
 */
final class CommitArguments {

	private CommitArguments() {
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
			.with(PackedHeader.stamp(encoded.stamp()))
			.with(encoded.step())
			.with(OwnerIndex.lag())
			.with(entries.lag())
			.with(OwnerIndex.slack())
			.with(entries.haveSession())
			.with(entries.at())
			.with(entries.kinds().size());
		entries.kinds().forEach(all::with);
		withChange(all, encoded);
		List<EncodedTurn> turns = turns(encoded);
		all.with(turns.size());
		turns.forEach((turn) -> withTurn(all, turn));
		all.with(commit.delete().size());
		new TreeSet<>(commit.delete()).forEach((sequence) -> all.with(sequence));
		Oldest oldest = commit.oldest();
		all.with((oldest != null) ? Long.valueOf(oldest.from()) : null)
			.with((oldest != null) ? Long.valueOf(oldest.before()) : null);
		all.with(commit.records().size());
		commit.records().forEach(all::with);
		return all;
	}

	private static List<EncodedTurn> turns(EncodedCommit encoded) {
		List<EncodedTurn> turns = new ArrayList<>(encoded.earlier());
		if (encoded.turn() != null) {
			turns.add(encoded.turn());
		}
		return turns;
	}

	private static void withChange(Arguments all, EncodedCommit encoded) {
		HeaderChange.Head head = encoded.commit().header().head();
		HeaderChange.Summary summary = encoded.commit().header().summary();
		all.with(encoded.header().title())
			.with(encoded.header().tags())
			.with(encoded.header().settings())
			.with(encoded.header().attributes())
			.with(encoded.header().timeToLive())
			.with((head != null) ? head.branch() : null)
			.with((head != null) ? Long.valueOf(head.turn()) : null)
			.with((summary != null) ? Long.valueOf(summary.turn()) : null)
			.with((summary != null) ? summary.id() : null);
	}

	private static void withTurn(Arguments all, EncodedTurn turn) {
		TurnStatus status = turn.turn().status();
		all.with(turn.turn().id())
			.with(turn.part())
			.with(turn.isCompleted())
			.with(turn.beside())
			.with(status.isOpen())
			.with(status.name())
			.with(turn.turn().parent())
			.with(turn.turn().branch())
			.with(Micros.of(turn.turn().startedAt()))
			.with(Micros.ofNullable(turn.turn().endedAt()))
			.with(turn.origin())
			.with(turn.outcome())
			.with(turn.attributes())
			.with(turn.tokens())
			.with(TurnIds.place(turn.turn().id()))
			.with(turn.turn().number())
			.with(turn.items().size());
		withItems(all, turn);
	}

	private static void withItems(Arguments all, EncodedTurn turn) {
		for (int i = 0; i < turn.items().size(); i++) {
			NewItem item = turn.items().get(i);
			all.with(Micros.of(item.at())).with(item.tokens()).with(turn.bodies().get(i));
		}
	}

}
