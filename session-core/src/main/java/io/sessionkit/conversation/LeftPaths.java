package io.sessionkit.conversation;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import io.sessionkit.Turn;
import io.sessionkit.internal.tree.LeftTurns;
import io.sessionkit.internal.tree.StoredTurns;
import io.sessionkit.store.PathQuery;
import io.sessionkit.store.PathView;
import io.sessionkit.store.Point;
import io.sessionkit.store.Tail;
import org.jspecify.annotations.Nullable;

/**
 * Reads the turns that the head of a session has left, and the ways to them.
 */
final class LeftPaths {

	private static final int PAGE = 100;

	private final TreeChanges changes;

	LeftPaths(TreeChanges changes) {
		this.changes = changes;
	}

	/**
	 * Returns the turns that were left last at the head, or behind turns after it whose
	 * items were deleted since.
	 */
	@Nullable LeftTurns newestAt(PathView path, long head) {
		return all(path, (left) -> left.fork() >= head).stream()
			.sorted(Comparator.comparingLong(LeftTurns::at).reversed())
			.filter((left) -> left.fork() == head || isEmptyBetween(head, left.fork()))
			.findFirst()
			.orElse(null);
	}

	private boolean isEmptyBetween(long head, long fork) {
		Map<Long, Turn> read = new HashMap<>();
		long number = fork;
		while (number > head) {
			if (!read.containsKey(number)) {
				this.changes.store()
					.turns(this.changes.key(), new Tail(number + 1, PAGE))
					.forEach((turn) -> read.put(turn.number(), turn));
			}
			Turn turn = read.get(number);
			if (turn == null || turn.items() > 0) {
				return false;
			}
			number = turn.parent();
		}
		return number == head;
	}

	/** Returns the turns that were left on the active branch and meet a condition. */
	List<LeftTurns> all(PathView path, Predicate<LeftTurns> condition) {
		return LeftTurns.read(path.records(LeftTurns.KIND), this.changes.codec())
			.stream()
			.filter((left) -> left.branch().equals(path.session().branch()) && condition.test(left))
			.toList();
	}

	/**
	 * Returns the turns behind a turn up to another one, oldest first, without those that
	 * retention has deleted.
	 */
	List<Turn> behind(long turn, long tip) {
		List<Turn> behind = new ArrayList<>();
		Tail page = Tail.newest(PAGE);
		for (boolean more = true; more;) {
			List<Turn> read = this.changes.store()
				.path(this.changes.key(), PathQuery.to(Point.at(tip)).turns(page))
				.map(PathView::turns)
				.orElse(List.of());
			behind.addAll(0, read.stream().filter((each) -> each.number() > turn).toList());
			more = !read.isEmpty() && read.get(0).number() > turn && read.get(0).parent() != turn;
			page = more ? page.before(read.get(0).number()) : page;
		}
		return behind;
	}

	/**
	 * Returns the turns that were tried instead of a turn of the active branch, and that
	 * turn, oldest first.
	 */
	List<Turn> siblings(long number) {
		PathQuery query = PathQuery.to(Point.HEAD).turns(new Tail(number + 1, 1)).records(LeftTurns.KIND);
		PathView path = this.changes.store().path(this.changes.key(), query).orElseThrow(this.changes::notFound);
		Turn turn = TreeChanges.onPath(path, number);
		Set<Long> numbers = new HashSet<>(Set.of(number));
		all(path, (left) -> left.hasTurns() && left.fork() == turn.parent())
			.forEach((left) -> numbers.add(left.first()));
		List<Turn> siblings = new ArrayList<>();
		numbers.stream()
			.sorted()
			.forEach((each) -> siblings.addAll((each == number) ? List.of(turn) : turn(each).stream().toList()));
		return siblings;
	}

	/**
	 * Returns the numbers of the turns that were left, by the turn that they follow.
	 */
	Map<Long, List<Long>> siblings() {
		return this.changes.store()
			.path(this.changes.key(), PathQuery.to(Point.HEAD).records(LeftTurns.KIND))
			.map((path) -> all(path, LeftTurns::hasTurns))
			.orElse(List.of())
			.stream()
			.collect(Collectors.groupingBy(LeftTurns::fork, TreeMap::new, Collectors.mapping(LeftTurns::first,
					Collectors.collectingAndThen(Collectors.toCollection(TreeSet::new), List::copyOf))));
	}

	Optional<Turn> turn(long number) {
		return StoredTurns.find(this.changes.store(), this.changes.key(), number);
	}

	/** Returns those turns that have items. */
	static List<Turn> filled(List<Turn> turns) {
		return turns.stream().filter((turn) -> turn.items() > 0).toList();
	}

	static List<Long> numbers(List<Turn> turns) {
		return turns.stream().map(Turn::number).toList();
	}

}
