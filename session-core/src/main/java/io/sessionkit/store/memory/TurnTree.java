package io.sessionkit.store.memory;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

import io.sessionkit.ViewTotals;
import io.sessionkit.store.Tail;
import io.sessionkit.store.Window;
import org.jspecify.annotations.Nullable;

/**
 * The turns of one session. A path is walked from its head towards the beginning, only
 * until enough is found, so that reading the newest turns costs the same however long the
 * session is. Guarded by the lock of its session.
 */
final class TurnTree {

	/** The turns by number, which is one more than the index. */
	private final List<StoredTurn> turns = new ArrayList<>();

	private final Map<String, StoredTurn> byId = new HashMap<>();

	/** The turns by the sequence of the first item of each part. */
	private final NavigableMap<Long, StoredTurn> parts = new TreeMap<>();

	long size() {
		return this.turns.size();
	}

	@Nullable StoredTurn find(String id) {
		return this.byId.get(id);
	}

	@Nullable StoredTurn find(long number) {
		return (number > 0 && number <= this.turns.size()) ? this.turns.get((int) number - 1) : null;
	}

	void add(String id, StoredTurn turn) {
		this.turns.add(turn);
		this.byId.put(id, turn);
	}

	/**
	 * Records the position of the items of a turn's part, for {@link #holding}.
	 */
	void addPart(StoredTurn turn, List<StoredItem> items) {
		if (!items.isEmpty()) {
			this.parts.put(items.get(0).sequence(), turn);
		}
	}

	/**
	 * Returns the turn that an item was written with, whether or not the item still
	 * exists.
	 */
	@Nullable StoredTurn holding(long sequence) {
		Map.Entry<Long, StoredTurn> part = this.parts.floorEntry(sequence);
		return (part != null) ? part.getValue() : null;
	}

	/**
	 * Returns whether an item still exists.
	 */
	boolean holds(long sequence) {
		StoredTurn turn = holding(sequence);
		return turn != null && turn.items().stream().anyMatch((item) -> item.sequence() == sequence);
	}

	/**
	 * Returns whether a turn is on the path from a head to the beginning.
	 */
	boolean isOnPath(long head, long number) {
		StoredTurn turn = find(head);
		while (turn != null && turn.number() > number) {
			turn = find(turn.before());
		}
		return turn != null && turn.number() == number;
	}

	/**
	 * Returns the turn behind another one on the path to a head; 0 if there is none.
	 */
	long next(long head, long number) {
		long next = 0;
		StoredTurn turn = find(head);
		while (turn != null && turn.number() > number) {
			next = turn.number();
			turn = find(turn.before());
		}
		return (((turn != null) ? turn.number() : 0) == number) ? next : 0;
	}

	/**
	 * Returns the newest whole turns after a summary that fit into a window.
	 */
	List<StoredItem> view(long head, long summary, Window window) {
		List<StoredTurn> newest = new ArrayList<>();
		int left = window.items();
		StoredTurn turn = find(head);
		while (turn != null && turn.number() > summary && newest.size() < window.turns()
				&& turn.items().size() <= left) {
			if (!turn.items().isEmpty()) {
				newest.add(turn);
			}
			left -= turn.items().size();
			turn = find(turn.before());
		}
		Collections.reverse(newest);
		return newest.stream().flatMap((each) -> each.items().stream()).toList();
	}

	/**
	 * Returns the newest items of the path to a head, which may begin within a turn.
	 */
	List<StoredItem> log(long head, Tail tail) {
		List<StoredItem> newest = new ArrayList<>();
		StoredTurn turn = find(head);
		while (turn != null && newest.size() < tail.limit()) {
			addNewest(turn.items(), tail, newest);
			turn = find(turn.before());
		}
		Collections.reverse(newest);
		return newest;
	}

	private static void addNewest(List<StoredItem> items, Tail tail, List<StoredItem> newest) {
		for (int i = items.size() - 1; i >= 0 && newest.size() < tail.limit(); i--) {
			if (items.get(i).sequence() < tail.before()) {
				newest.add(items.get(i));
			}
		}
	}

	/**
	 * Returns the newest turns of the path to a head, oldest first.
	 */
	List<StoredTurn> path(long head, Tail tail) {
		List<StoredTurn> newest = new ArrayList<>();
		StoredTurn turn = find(head);
		while (turn != null && newest.size() < tail.limit()) {
			if (turn.number() < tail.before()) {
				newest.add(turn);
			}
			turn = find(turn.before());
		}
		Collections.reverse(newest);
		return newest;
	}

	/**
	 * Returns the newest turns, whatever their status and branch.
	 */
	List<StoredTurn> newest(Tail tail) {
		int end = (int) Math.max(0, Math.min(this.turns.size(), tail.before() - 1));
		return this.turns.subList(Math.max(0, end - tail.limit()), end);
	}

	ViewTotals totals(long head, long summary) {
		ViewTotals totals = ViewTotals.NONE;
		StoredTurn turn = find(head);
		while (turn != null && turn.number() > summary) {
			totals = totals.plusTurn(turn.items().size(), turn.tokens());
			turn = find(turn.before());
		}
		return totals;
	}

}
