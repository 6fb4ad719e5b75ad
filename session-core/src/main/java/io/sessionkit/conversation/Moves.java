package io.sessionkit.conversation;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionNotFoundException;
import io.sessionkit.Summary;
import io.sessionkit.Turn;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.conversation.TreeChanges.Plan;
import io.sessionkit.internal.tree.BegunRewinds;
import io.sessionkit.internal.tree.LeftTurns;
import io.sessionkit.internal.view.Summaries;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.PathQuery;
import io.sessionkit.store.PathView;
import io.sessionkit.store.Point;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import org.jspecify.annotations.Nullable;

/**
 * Moves the head of a session back and forth, and remembers what it leaves.
 */
final class Moves {

	private static final int PAGE = 100;

	/** The turns to read at a time if some of the newest ones have no items. */
	private static final int MORE = 1000;

	private final TreeChanges changes;

	Moves(TreeChanges changes) {
		this.changes = changes;
	}

	List<Turn> undo(int turns) {
		if (turns <= 0) {
			return List.of();
		}
		return this.changes.make("undone", back(turns), List::of, (path) -> {
			checkRewindsEnded(path, gone(path, turns).turns(), "undone");
			return undone(path, turns);
		});
	}

	private void checkRewindsEnded(PathView path, List<Turn> leaving, String what) {
		BegunRewinds.read(path.session().key(), path.records(BegunRewinds.KIND), codec()).check(leaving, what);
	}

	/**
	 * Turns that a move back leaves.
	 *
	 * @param turns the turns that have items, newest first; none before the reset
	 * @param all the same, with those between them whose items were deleted; if there are
	 * fewer turns than the move would leave, also with those before them
	 * @param reset the reset that stops the move; null if none does
	 * @param cut the number of the turn up to which turns were deleted that the move
	 * would leave too; 0 if there are none
	 */
	record Gone(List<Turn> turns, List<Turn> all, @Nullable Summary reset, long cut) {
	}

	/**
	 * Reads what a move back needs.
	 * @return the path; empty if the session is absent
	 */
	Optional<PathView> pathBack(int turns) {
		return this.changes.store().path(this.changes.key(), back(turns));
	}

	private static PathQuery back(int turns) {
		Tail tail = Tail.newest((turns == Integer.MAX_VALUE) ? turns : turns + 1);
		return PathQuery.to(Point.HEAD).turns(tail).records(LeftTurns.KIND, BegunRewinds.KIND);
	}

	/**
	 * Returns the turns that a move back leaves.
	 * @param turns the largest number of turns to leave
	 */
	Gone gone(PathView path, int turns) {
		List<Turn> leaving = newest(path, turns);
		boolean maybeReset = !leaving.isEmpty() && path.session().summaryTurn() >= leaving.get(0).number();
		Summary reset = maybeReset ? newestReset(leaving) : null;
		List<Turn> filled = filled(leaving).stream()
			.filter((turn) -> reset == null || turn.number() > reset.turn())
			.toList();
		boolean toTheBeginning = filled.size() < turns;
		long before = (toTheBeginning || filled.isEmpty()) ? start(reset) : filled.get(0).number() - 1;
		List<Turn> all = leaving.stream().filter((turn) -> turn.number() > before).toList();
		boolean isCut = toTheBeginning && reset == null && !isReset(path);
		return new Gone(reversed(filled), reversed(all), reset, isCut ? beforeOldest(path, leaving) : 0);
	}

	/** Returns the turn behind which a move back begins at the latest. */
	private static long start(@Nullable Summary reset) {
		return (reset != null) ? reset.turn() : 0;
	}

	/** Returns the turn before the oldest one that is there; 0 for the beginning. */
	private static long beforeOldest(PathView path, List<Turn> turns) {
		return turns.isEmpty() ? path.session().head() : turns.get(0).parent();
	}

	private static List<Turn> reversed(List<Turn> turns) {
		List<Turn> reversed = new ArrayList<>(turns);
		Collections.reverse(reversed);
		return List.copyOf(reversed);
	}

	/**
	 * Returns the turns of the active branch from one of the newest that have items on,
	 * oldest first. Those between them without items belong to it: a session may be reset
	 * behind one of them.
	 */
	private List<Turn> newest(PathView path, int turns) {
		List<Turn> read = path.turns();
		List<Turn> newest = new ArrayList<>(read);
		while (filled(newest).size() < turns && read.size() > turns) {
			Tail more = Tail.newest(Math.max(MORE, turns + 1)).before(read.get(0).number());
			read = this.changes.store()
				.path(this.changes.key(), PathQuery.to(Point.HEAD).turns(more))
				.map(PathView::turns)
				.orElse(List.of());
			newest.addAll(0, read);
		}
		List<Turn> filled = filled(newest);
		if (filled.size() < turns) {
			return newest;
		}
		int oldest = (turns > 0) ? newest.indexOf(filled.get(filled.size() - turns)) : newest.size();
		return newest.subList(oldest, newest.size());
	}

	private static List<Turn> filled(List<Turn> turns) {
		return turns.stream().filter((turn) -> turn.items() > 0).toList();
	}

	/**
	 * Moves the head back after the effects of some turns were dealt with.
	 * @param turns the turns, newest first
	 * @param check refuses to move if the session is not as it must be
	 * @param other supplies the result, or the exception, if other turns than these would
	 * leave the history by now, or the session is absent
	 */
	List<Turn> rewind(List<Turn> turns, Consumer<Session> check, Supplier<List<Turn>> other) {
		return this.changes.make("rewound", back(turns.size()), other, (path) -> {
			check.accept(path.session());
			boolean same = numbers(gone(path, turns.size()).turns()).equals(numbers(turns));
			return same ? undone(path, turns.size()) : Plan.nothing(other.get());
		});
	}

	private static List<Long> numbers(List<Turn> turns) {
		return turns.stream().map(Turn::number).toList();
	}

	private Plan<List<Turn>> undone(PathView path, int turns) {
		Session session = path.session();
		Gone leaving = gone(path, turns);
		List<Turn> gone = leaving.turns();
		Summary reset = leaving.reset();
		if (gone.isEmpty()) {
			// one that a summary covers stays, also if retention has left nothing behind
			// it
			return (reset != null && reset.id().equals(session.summaryId()))
					? withoutReset(session, reset).and(left(path, reset)) : Plan.nothing(List.of());
		}
		Turn first = gone.get(gone.size() - 1);
		LeftTurns left = left(path, first.parent(), first.number());
		return Plan.move(session.branch(), first.parent(), gone, left.write(session.key(), codec()));
	}

	/** Returns the newest reset behind one of some turns; null if there is none. */
	private @Nullable Summary newestReset(List<Turn> turns) {
		Set<Long> numbers = new HashSet<>();
		turns.forEach((turn) -> numbers.add(turn.number()));
		return summaries().stream()
			.filter((summary) -> summary.isReset() && numbers.contains(summary.turn()))
			.max(Summaries.BY_AGE)
			.orElse(null);
	}

	private List<Summary> summaries() {
		return this.changes.store()
			.records(this.changes.key(), SessionStore.SUMMARY)
			.stream()
			.map((record) -> Summaries.read(record, codec()))
			.toList();
	}

	/**
	 * The head stays, and the store finds the summary that was in force before, unless
	 * the reset has taken the place of one that covers the same turns.
	 */
	private Plan<List<Turn>> withoutReset(Session session, Summary reset) {
		RecordWrite deletion = new RecordWrite(SessionStore.SUMMARY, reset.id(), RecordWrite.ANY, null, null);
		return summaries().stream()
			.filter((summary) -> summary.turn() == reset.turn() && !summary.isReset())
			.max(Summaries.BY_AGE)
			.map((summary) -> new Plan<List<Turn>>(HeaderChange.NONE.summary(summary.turn(), summary.id()),
					List.of(deletion), List.of()))
			.orElseGet(() -> Plan.move(session.branch(), session.head(), List.of(), deletion));
	}

	/**
	 * Returns what is left by a move back. If the head stands where an undo has left it,
	 * the turns that were undone then are left by this one too.
	 */
	private LeftTurns left(PathView path, long fork, long first) {
		Session session = path.session();
		LeftTurns before = newestAt(path, session.head());
		return (before != null) ? before.from(fork, first)
				: new LeftTurns(session.head(), session.branch(), fork, first, session.version());
	}

	/** Creates the write that remembers a reset that is taken back. */
	private RecordWrite left(PathView path, Summary reset) {
		Session session = path.session();
		LeftTurns before = newestAt(path, session.head());
		LeftTurns left = (before != null) ? before
				: new LeftTurns(session.head(), session.branch(), session.head(), 0, session.version());
		return left.with(new LeftTurns.Reset(reset.turn(), reset.pinned().isEmpty())).write(session.key(), codec());
	}

	/**
	 * Returns the turns that were left last at the head, or behind turns after it whose
	 * items were deleted since.
	 */
	private @Nullable LeftTurns newestAt(PathView path, long head) {
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

	private List<LeftTurns> all(PathView path, Predicate<LeftTurns> condition) {
		return LeftTurns.read(path.records(LeftTurns.KIND), codec())
			.stream()
			.filter((left) -> left.branch().equals(path.session().branch()) && condition.test(left))
			.toList();
	}

	/**
	 * A move forward.
	 *
	 * @param turns the turns that its caller gets
	 * @param rest the way that is still to be gone; null if there is none
	 */
	private record Step(List<Turn> turns, @Nullable WayForward rest) {

		static final Step NONE = new Step(List.of(), null);

		static Step of(List<Turn> turns, WayForward way) {
			WayForward rest = way.rest();
			return new Step(turns, rest.isOver() ? null : rest);
		}

	}

	List<Turn> redo(int turns) {
		if (turns <= 0) {
			return List.of();
		}
		String what = "redone";
		return finish(what,
				this.changes.make(what, forward(Tail.newest(0)), () -> Step.NONE, (path) -> redone(path, turns)));
	}

	// begun rewinds and rewound turns are read from records of the same kind
	private static PathQuery forward(Tail turns) {
		return PathQuery.to(Point.HEAD).turns(turns).records(LeftTurns.KIND, RewoundTurns.KIND);
	}

	private Plan<Step> redone(PathView path, int turns) {
		long head = path.session().head();
		LeftTurns left = newestAt(path, head);
		if (left == null) {
			return Plan.nothing(Step.NONE);
		}
		WayForward way = WayForward.over(turns, comingBack(left), head, behind(head, left.tip()));
		if (way.isOver()) {
			return Plan.nothing(Step.NONE);
		}
		checkEffects(path, way.turns());
		return ahead(path, way, way.again(), "redone");
	}

	/**
	 * Returns turns that were left without the resets that cannot come back: a session is
	 * reset there by now, or the turn is gone.
	 */
	private LeftTurns comingBack(LeftTurns left) {
		if (left.resets().isEmpty()) {
			return left;
		}
		Set<Long> made = summaries().stream().filter(Summary::isReset).map(Summary::turn).collect(Collectors.toSet());
		return left.without((reset) -> made.contains(reset.turn()) || turn(reset.turn()).isEmpty());
	}

	/** Plans the move to the next stop of a way. */
	private Plan<Step> ahead(PathView path, WayForward way, List<Turn> turns, String what) {
		Session session = path.session();
		RecordWrite left = way.rest().left().writeRest(session.key(), codec());
		Plan<Step> plan = Plan.move(session.branch(), way.stop(), Step.of(turns, way), left);
		LeftTurns.Reset reset = way.reset();
		return (reset != null) ? plan.with(again(path, reset, what), session.key(), codec()) : plan;
	}

	/** Returns a reset anew, with what of the seed is still there. */
	private Summary again(PathView path, LeftTurns.Reset reset, String what) {
		PathView there = this.changes.store()
			.path(this.changes.key(), PathQuery.to(Point.at(reset.turn())).turns(Tail.ALL))
			.orElseThrow(this::notFound);
		checkRewindsEnded(path, there.turns(), what);
		return Summaries.reset(there.view().session(), reset.bare() ? List.of() : seeded(there),
				this.changes.store().options());
	}

	/**
	 * Goes the rest of a way, unless others move the head meanwhile.
	 * @return all turns that the caller gets
	 */
	private List<Turn> finish(String what, Step first) {
		List<Turn> turns = new ArrayList<>(first.turns());
		for (Step step = first; step.rest() != null;) {
			WayForward rest = step.rest();
			step = this.changes.make(what, forward(Tail.newest(0)), () -> Step.NONE,
					(path) -> isAt(path.session(), rest) ? ahead(path, rest, rest.again(), what)
							: Plan.nothing(Step.NONE));
			turns.addAll(step.turns());
		}
		return List.copyOf(turns);
	}

	private static boolean isAt(Session session, WayForward way) {
		return session.head() == way.head() && session.branch().equals(way.left().branch());
	}

	private void checkEffects(PathView path, List<Turn> turns) {
		RewoundTurns.check(path.session().key(), path.records(RewoundTurns.KIND), codec(), turns);
	}

	/**
	 * Returns the turns behind a turn up to another one, oldest first, without those that
	 * retention has deleted.
	 */
	private List<Turn> behind(long turn, long tip) {
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
	 * Starts the view anew behind the head.
	 */
	void reset() {
		PathQuery query = PathQuery.to(Point.HEAD).turns(Tail.ALL).records(BegunRewinds.KIND);
		this.changes.make("reset", query, () -> false, (path) -> {
			checkRewindsEnded(path, path.turns(), "reset");
			return fresh(path);
		});
	}

	private Plan<Boolean> fresh(PathView path) {
		Session session = path.session();
		if (session.head() == 0 || (session.totals().turns() == 0 && isReset(path))) {
			return Plan.nothing(false);
		}
		Summary reset = Summaries.reset(session, seeded(path), this.changes.store().options());
		return new Plan<>(HeaderChange.NONE.summary(reset.turn(), reset.id()),
				List.of(Summaries.write(session.key(), reset, codec())), true);
	}

	private boolean isReset(PathView path) {
		SessionRecord summary = path.view().summary();
		return summary != null && Summaries.read(summary, codec()).isReset();
	}

	private List<SessionItem> seeded(PathView path) {
		List<SessionItem> items = new ArrayList<>();
		seed(path).forEach((turn) -> items.addAll(this.changes.store().items(this.changes.key(), turn.number())));
		return items;
	}

	/**
	 * Returns the turns of the seed. A turn with which the session has started anew has
	 * replaced the seed before it.
	 */
	private static List<Turn> seed(PathView path) {
		List<Turn> seed = new ArrayList<>();
		for (Turn turn : path.turns()) {
			if (turn.parameters().get(Turn.STARTS_ANEW) instanceof Number turns) {
				seed.subList(0, Math.max(0, seed.size() - turns.intValue())).clear();
			}
			if (turn.isSeeded()) {
				seed.add(turn);
			}
		}
		return seed;
	}

	/**
	 * Returns the turns that were tried in the place of a turn of the active branch, and
	 * that turn, oldest first.
	 */
	List<Turn> siblings(long number) {
		PathQuery query = PathQuery.to(Point.HEAD).turns(new Tail(number + 1, 1)).records(LeftTurns.KIND);
		PathView path = this.changes.store().path(this.changes.key(), query).orElseThrow(this::notFound);
		Turn turn = onPath(path, number);
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

	/**
	 * Makes a turn that the head has left active again, with the turns behind it.
	 */
	Turn choose(long number) {
		String what = "moved to another turn";
		Step first = this.changes.make(what, forward(new Tail(number + 1, 1)), () -> {
			throw notFound();
		}, (path) -> chosen(path, number, what));
		finish(what, first);
		return first.turns().get(0);
	}

	private Plan<Step> chosen(PathView path, long number, String what) {
		Session session = path.session();
		if (isLast(path, number)) {
			return Plan.nothing(new Step(path.turns(), null));
		}
		LeftTurns there = all(path, (left) -> left.hasTurns() && left.first() == number).stream()
			.max(Comparator.comparingLong(LeftTurns::at))
			.orElseThrow(() -> new IllegalArgumentException(
					"Turn " + number + " of session " + session.key() + " is none that was left on branch '"
							+ session.branch() + "'. Name one of siblings(..), or use branch(..) and switchTo(..)."));
		Turn turn = turn(number).orElseThrow(this::notFound);
		long fork = fork(session, there);
		List<Turn> back = behind(fork, there.tip());
		checkEffects(path, back);
		Plan<Step> plan = ahead(path, WayForward.whole(comingBack(there), fork, back), List.of(turn), what);
		for (RecordWrite each : without(path, back, there)) {
			plan = plan.and(each);
		}
		if (session.head() == fork) {
			return plan;
		}
		List<Turn> leaving = filled(behind(fork, session.head()));
		checkRewindsEnded(path, leaving, what);
		long first = leaving.isEmpty() ? session.head() : leaving.get(0).number();
		return plan.and(new LeftTurns(session.head(), session.branch(), fork, first, session.version())
			.write(session.key(), codec()));
	}

	/**
	 * Returns the turn after which the way to turns that were left parts from the way to
	 * the head. It is another one than they remember if the head has left that one too.
	 */
	private long fork(Session session, LeftTurns there) {
		List<Turn> ahead = behind(there.fork(), session.head());
		boolean onPath = session.head() == there.fork() || (!ahead.isEmpty() && ahead.get(0).parent() == there.fork());
		if (onPath) {
			return there.fork();
		}
		Set<Long> active = new HashSet<>(numbers(behind(0, session.head())));
		List<Turn> way = behind(0, there.tip());
		// retention may have cut both ways behind the turn at which they part
		boolean isCut = way.isEmpty() || way.get(0).parent() != 0;
		return way.stream()
			.map(Turn::number)
			.filter(active::contains)
			.max(Comparator.naturalOrder())
			.orElse(isCut ? there.fork() : 0L);
	}

	/**
	 * Returns the writes by which other turns that were left no longer begin with turns
	 * to which the head comes back.
	 */
	private List<RecordWrite> without(PathView path, List<Turn> back, LeftTurns there) {
		Set<Long> again = new HashSet<>(numbers(back));
		List<RecordWrite> writes = new ArrayList<>();
		for (LeftTurns left : all(path, (each) -> each.tip() != there.tip() && again.contains(each.first()))) {
			List<Turn> way = behind(left.fork(), left.tip());
			long fork = way.stream().mapToLong(Turn::number).filter(again::contains).max().orElse(left.fork());
			writes.add(filled(way).stream()
				.filter((turn) -> turn.number() > fork)
				.findFirst()
				.map((first) -> left.from(fork, first.number()).write(path.session().key(), codec()))
				.orElseGet(left::delete));
		}
		return writes;
	}

	private static boolean isLast(PathView path, long number) {
		return !path.turns().isEmpty() && path.turns().get(0).number() == number;
	}

	private static Turn onPath(PathView path, long number) {
		if (!isLast(path, number)) {
			throw new IllegalArgumentException(
					"Turn " + number + " of session " + path.session().key() + " is not on the active branch '"
							+ path.session().branch() + "', or was deleted as one of the oldest.");
		}
		return path.turns().get(0);
	}

	private SessionNotFoundException notFound() {
		return new SessionNotFoundException("There is no session " + this.changes.key() + ", or it has expired.");
	}

	private MessageCodec codec() {
		return this.changes.codec();
	}

	private Optional<Turn> turn(long number) {
		return this.changes.store()
			.turns(this.changes.key(), new Tail(number + 1, 1))
			.stream()
			.filter((turn) -> turn.number() == number)
			.findFirst();
	}

}
