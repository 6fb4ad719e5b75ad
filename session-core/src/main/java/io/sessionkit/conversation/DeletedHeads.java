package io.sessionkit.conversation;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

import io.sessionkit.Session;
import io.sessionkit.Summary;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.internal.tree.LeftTurns;
import io.sessionkit.store.PathView;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;

/**
 * The turns of the history that are not on the way to the head any more: all of their
 * messages were deleted while they were the newest, so that the head moved to the turn
 * before them.
 */
final class DeletedHeads {

	private final SessionStore store;

	private final PathView path;

	/**
	 * @param path the path to the head, with the records of turns that were left
	 */
	DeletedHeads(SessionStore store, PathView path) {
		this.store = store;
		this.path = path;
	}

	/**
	 * Returns the turns that a move back leaves, with those that were deleted behind
	 * them.
	 * @param gone what the move leaves
	 * @param toTheBeginning whether it was to leave more turns than there are
	 * @return the turns, newest first
	 */
	List<Turn> with(MovesBack.Gone gone, boolean toTheBeginning) {
		List<Turn> all = new ArrayList<>(gone.all());
		Set<Long> history = new HashSet<>();
		all.forEach((turn) -> history.add(turn.number()));
		long start = toTheBeginning ? beginning(gone) : beforeOldest(all);
		if (toTheBeginning) {
			history.add(start);
		}
		if (all.size() < this.path.session().turns() - start) {
			NavigableMap<Long, Turn> after = after(start);
			after.values().removeIf((turn) -> turn.parent() == start && hasOlder(gone, turn));
			addDeleted(after, history, all);
		}
		all.sort(Comparator.comparingLong(Turn::number).reversed());
		return List.copyOf(all);
	}

	private static long beginning(MovesBack.Gone gone) {
		Summary reset = gone.reset();
		return (reset != null) ? reset.turn() : gone.cut();
	}

	private long beforeOldest(List<Turn> turns) {
		return turns.isEmpty() ? this.path.session().turns() : turns.get(turns.size() - 1).number() - 1;
	}

	/**
	 * Returns whether a move back leaves a turn that is older than one which begins where
	 * the history does: that one was no part of this history.
	 */
	private static boolean hasOlder(MovesBack.Gone gone, Turn beginning) {
		return gone.all().stream().anyMatch((turn) -> turn.number() < beginning.number());
	}

	/** Returns the turns after one, on all branches, by number. */
	private NavigableMap<Long, Turn> after(long start) {
		Session session = this.path.session();
		NavigableMap<Long, Turn> turns = new TreeMap<>();
		int most = (int) Math.min(Integer.MAX_VALUE, session.turns() - start);
		this.store.turns(session.key(), new Tail(session.turns() + 1, most))
			.forEach((turn) -> turns.put(turn.number(), turn));
		return turns.tailMap(start, false);
	}

	private void addDeleted(NavigableMap<Long, Turn> turns, Set<Long> history, List<Turn> all) {
		Set<Long> left = left(turns);
		for (Turn turn : turns.values()) {
			if (isDeleted(turn) && history.contains(turn.parent()) && !left.contains(turn.number())
					&& history.add(turn.number())) {
				all.add(turn);
			}
		}
	}

	private boolean isDeleted(Turn turn) {
		return turn.items() == 0 && turn.status() == TurnStatus.COMPLETED
				&& turn.branch().equals(this.path.session().branch());
	}

	/** Returns the turns that a move has left: what is deleted of them was no history. */
	private Set<Long> left(NavigableMap<Long, Turn> turns) {
		Set<Long> left = new HashSet<>();
		for (LeftTurns each : LeftTurns.read(this.path.records(LeftTurns.KIND), this.store.options().codec())) {
			Turn turn = turns.get(each.tip());
			while (turn != null && turn.number() > each.fork() && left.add(turn.number())) {
				turn = turns.get(turn.parent());
			}
		}
		return left;
	}

}
