package io.sessionkit.samples.chat;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.sessionkit.Session;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.conversation.Branch;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.store.Tail;

/**
 * The turns of a thread that a person sees: those of the active branch, and those that
 * were tried on it and came to nothing. Turns that were undone, edited away or belong to
 * another branch are not among them. All turns are read for that, with one call and
 * without their items, since each knows only the one before it.
 */
final class ShownTurns {

	private final Map<Long, Turn> all = new HashMap<>();

	private final Set<Long> path;

	private final List<Turn> shown;

	private ShownTurns(List<Turn> turns, long head) {
		turns.forEach((turn) -> this.all.put(turn.number(), turn));
		this.path = path(head);
		this.shown = turns.stream().filter(this::isShown).toList();
	}

	static ShownTurns of(Conversation conversation, Session session) {
		return new ShownTurns(conversation.turns(Tail.ALL), session.head());
	}

	private boolean isShown(Turn turn) {
		return hasInHistory(turn.number()) || (turn.status() != TurnStatus.COMPLETED && isParent(turn.parent()));
	}

	private boolean isParent(long number) {
		return number == 0 || hasInHistory(number);
	}

	boolean hasInHistory(long number) {
		return this.path.contains(number);
	}

	/** Returns the numbers of the turns from the beginning to one of them. */
	private Set<Long> path(long last) {
		Set<Long> path = new HashSet<>();
		for (Turn turn = this.all.get(last); turn != null; turn = this.all.get(turn.parent())) {
			path.add(turn.number());
		}
		return path;
	}

	boolean contains(long number) {
		return this.shown.stream().anyMatch((turn) -> turn.number() == number);
	}

	/**
	 * Returns some of the turns, oldest first.
	 */
	List<Turn> page(Tail tail) {
		List<Turn> before = before(tail.before());
		return before.subList(Math.max(0, before.size() - tail.limit()), before.size());
	}

	/**
	 * Returns the turns with smaller numbers.
	 */
	List<Turn> before(long number) {
		return this.shown.stream().filter((turn) -> turn.number() < number).toList();
	}

	/**
	 * Returns the branches with the places where they part. Each is compared with those
	 * that are older, and belongs to the one with which it has the most in common.
	 */
	List<BranchView> tree(List<Branch> branches) {
		Map<Long, String> owners = new HashMap<>();
		return branches.stream().map((branch) -> {
			long fork = branch.head();
			while (fork != 0 && !owners.containsKey(fork)) {
				owners.put(fork, branch.name());
				fork = this.all.containsKey(fork) ? this.all.get(fork).parent() : 0;
			}
			return BranchView.of(branch, owners.get(fork), fork);
		}).toList();
	}

}
