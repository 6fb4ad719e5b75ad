package io.sessionkit.conversation;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;

/**
 * The turns of all branches of a session and, read on demand, their items. Not safe for
 * use by many threads.
 */
final class WholeThread {

	private final SessionKey key;

	private final SessionStore store;

	private final Map<Long, Turn> turns = new TreeMap<>();

	private final Map<Long, List<SessionItem>> items = new HashMap<>();

	WholeThread(SessionKey key, SessionStore store) {
		this.key = key;
		this.store = store;
		store.turns(key, Tail.ALL).forEach((turn) -> this.turns.put(turn.number(), turn));
	}

	@Nullable Turn turn(long number) {
		return this.turns.get(number);
	}

	@Nullable Turn turn(String id) {
		return this.turns.values().stream().filter((turn) -> turn.id().equals(id)).findFirst().orElse(null);
	}

	/** Returns whether a turn before this one has items, as after a deletion by hand. */
	boolean hasItemsBefore(long number) {
		return this.turns.values().stream().anyMatch((turn) -> turn.number() < number && turn.items() > 0);
	}

	/** Returns the turns with which the branches begin. */
	List<Turn> beginnings() {
		return this.turns.values().stream().filter((turn) -> turn.parent() == 0).toList();
	}

	List<SessionItem> items(long turn) {
		return this.items.computeIfAbsent(turn, (number) -> this.store.items(this.key, number));
	}

	/**
	 * Returns whether a turn is on the path from a head to the beginning, or is the head.
	 */
	boolean isOnPath(long head, long number) {
		Turn turn = this.turns.get(head);
		while (turn != null && turn.number() > number) {
			turn = this.turns.get(turn.parent());
		}
		return turn != null && turn.number() == number;
	}

	/**
	 * Returns the turns that were written on a branch or lead to one of its ends, and are
	 * on the way to no other end.
	 * @param gone the ends of the branch
	 * @param ends the other ends
	 */
	List<Turn> turnsOfBranch(String branch, Set<Long> gone, Set<Long> ends) {
		Set<Long> stay = onTheWayTo(ends);
		Set<Long> leading = onTheWayTo(gone);
		return this.turns.values()
			.stream()
			.filter((turn) -> turn.branch().equals(branch) || leading.contains(turn.number()))
			.filter((turn) -> !stay.contains(turn.number()))
			.toList();
	}

	/**
	 * Returns the items of some turns by sequence. What belongs to them in other turns is
	 * not among them.
	 */
	Map<Long, SessionItem> items(List<Turn> some) {
		Map<Long, SessionItem> items = new TreeMap<>();
		some.forEach((turn) -> items(turn.number()).forEach((item) -> items.put(item.sequence(), item)));
		return items;
	}

	/** Returns the turns on the way to some ends, and the ends themselves. */
	List<Turn> turnsOnTheWayTo(Set<Long> ends) {
		Set<Long> way = onTheWayTo(ends);
		return this.turns.values().stream().filter((turn) -> way.contains(turn.number())).toList();
	}

	private Set<Long> onTheWayTo(Set<Long> ends) {
		Set<Long> way = new HashSet<>();
		for (long end : ends) {
			for (Turn turn = this.turns.get(end); turn != null && way.add(turn.number());) {
				turn = this.turns.get(turn.parent());
			}
		}
		return way;
	}

	/**
	 * Returns the items with these sequences on all branches. Sequences without an item
	 * are ignored.
	 */
	Collection<SessionItem> find(Set<Long> sequences) {
		Map<Long, SessionItem> found = new LinkedHashMap<>();
		for (long sequence : sequences) {
			findOnActiveBranch(sequence, found);
		}
		Set<Long> elsewhere = new HashSet<>(sequences);
		elsewhere.removeAll(found.keySet());
		for (Turn turn : this.turns.values()) {
			if (!elsewhere.isEmpty() && turn.items() > 0) {
				items(turn.number()).stream()
					.filter((item) -> elsewhere.remove(item.sequence()))
					.forEach((item) -> found.put(item.sequence(), item));
			}
		}
		return found.values();
	}

	private void findOnActiveBranch(long sequence, Map<Long, SessionItem> found) {
		if (sequence > 0 && sequence < Long.MAX_VALUE) {
			this.store.items(this.key, new Tail(sequence + 1, 1))
				.stream()
				.filter((item) -> item.sequence() == sequence)
				.forEach((item) -> found.put(sequence, item));
		}
	}

	/**
	 * Returns these items and those that belong to them: the results of calls, and the
	 * calls of results. They are matched by position, since ids may be empty.
	 * @return the items by sequence
	 */
	Map<Long, SessionItem> wholeGroups(Collection<SessionItem> some) {
		Map<Long, SessionItem> whole = new TreeMap<>();
		Deque<SessionItem> left = new ArrayDeque<>(some);
		while (!left.isEmpty()) {
			SessionItem item = left.remove();
			if (whole.putIfAbsent(item.sequence(), item) == null) {
				left.addAll(callsTools(item.message()) ? results(item) : calls(item));
			}
		}
		return whole;
	}

	/**
	 * Returns the results that directly follow some calls. If the application runs the
	 * tools itself, they are in the turns that follow.
	 */
	private List<SessionItem> results(SessionItem calls) {
		List<SessionItem> turn = items(calls.turn());
		List<SessionItem> behind = turn.stream().filter((item) -> item.sequence() > calls.sequence()).toList();
		if (!behind.isEmpty()) {
			return leadingResults(behind);
		}
		return this.turns.values()
			.stream()
			.filter((next) -> next.parent() == calls.turn())
			.flatMap((next) -> leadingResults(items(next.number())).stream())
			.toList();
	}

	private static List<SessionItem> leadingResults(List<SessionItem> items) {
		return items.stream().takeWhile((item) -> item.message() instanceof ToolResponseMessage).toList();
	}

	private List<SessionItem> calls(SessionItem item) {
		if (!(item.message() instanceof ToolResponseMessage)) {
			return List.of();
		}
		List<SessionItem> turn = items(item.turn());
		for (int i = turn.size() - 1; i >= 0; i--) {
			boolean before = turn.get(i).sequence() < item.sequence();
			if (before && !(turn.get(i).message() instanceof ToolResponseMessage)) {
				return callsOnly(turn.get(i));
			}
		}
		Turn own = this.turns.get(item.turn());
		List<SessionItem> parent = (own != null && own.parent() > 0) ? items(own.parent()) : List.of();
		return parent.isEmpty() ? List.of() : callsOnly(parent.get(parent.size() - 1));
	}

	private static List<SessionItem> callsOnly(SessionItem item) {
		return callsTools(item.message()) ? List.of(item) : List.of();
	}

	private static boolean callsTools(Message message) {
		return message instanceof AssistantMessage reply && reply.hasToolCalls();
	}

}
