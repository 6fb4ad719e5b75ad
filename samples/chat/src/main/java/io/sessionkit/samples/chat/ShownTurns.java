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
 * another branch are not among them, nor are those whose messages were deleted. All turns
 * are read for that, with one call and without their items, since each knows only the one
 * before it.
 */
final class ShownTurns {

	private final Map<Long, Turn> all = new HashMap<>();

	private final Set<Long> path;

	private final List<Turn> shown;

	private final long deleted;

	private ShownTurns(List<Turn> turns, long head) {
		turns.forEach((turn) -> this.all.put(turn.number(), turn));
		this.path = path(head);
		this.deleted = turns.stream().takeWhile(ShownTurns::isDeleted).mapToLong(Turn::number).max().orElse(0);
		this.shown = turns.stream().filter(this::isShown).toList();
	}

	static ShownTurns of(Conversation conversation, Session session) {
		return new ShownTurns(conversation.turns(Tail.ALL), session.head());
	}

	private boolean isShown(Turn turn) {
		return !isDeleted(turn)
				&& (hasInHistory(turn.number()) || (turn.status() != TurnStatus.COMPLETED && isParent(turn.parent())));
	}

	/** Every turn has at least its question, until that is deleted. */
	private static boolean isDeleted(Turn turn) {
		return turn.items() == 0 && !turn.status().isOpen();
	}

	private boolean isParent(long number) {
		return number == 0 || hasInHistory(number);
	}

	/**
	 * Returns the number of the turn up to which all turns were deleted.
	 * @return the number; 0 for none
	 */
	long deleted() {
		return this.deleted;
	}

	boolean hasInHistory(long number) {
		return this.path.contains(number);
	}

	/**
	 * Returns how many turns of the history there are from one of them on.
	 * @return the number; 0 if that turn is not in the history
	 */
	int countFrom(long number) {
		return hasInHistory(number) ? (int) this.path.stream().filter((each) -> each >= number).count() : 0;
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
			return BranchView.of(branch, countTo(branch.head()), owners.get(fork), fork);
		}).toList();
	}

	/** Returns how many turns with messages there are up to one of them. */
	private long countTo(long last) {
		return path(last).stream().map(this.all::get).filter((turn) -> turn != null && turn.items() > 0).count();
	}

}
