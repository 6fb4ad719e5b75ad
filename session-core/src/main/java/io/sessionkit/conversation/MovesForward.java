package io.sessionkit.conversation;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.sessionkit.Session;
import io.sessionkit.Turn;
import io.sessionkit.conversation.TreeChanges.Plan;
import io.sessionkit.internal.tree.LeftTurns;
import io.sessionkit.store.ChangeRefusedException;
import io.sessionkit.store.ChangeRefusedException.Reason;
import io.sessionkit.store.PathQuery;
import io.sessionkit.store.PathView;
import io.sessionkit.store.Point;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.Tail;
import org.jspecify.annotations.Nullable;

/**
 * Moves the head of a session forward again, to turns that it has left.
 */
final class MovesForward {

	private final TreeChanges changes;

	private final LeftPaths paths;

	private final Resets resets;

	MovesForward(TreeChanges changes) {
		this.changes = changes;
		this.paths = new LeftPaths(changes);
		this.resets = new Resets(changes);
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
		String what = "redone";
		this.changes.checkNumber(turns, what);
		return finish(what,
				this.changes.make(what, forward(Tail.newest(0)), () -> Step.NONE, (path) -> redone(path, turns)));
	}

	// checkRewindsEnded needs BegunRewinds.KIND, which is the kind of RewoundTurns too
	private static PathQuery forward(Tail turns) {
		return PathQuery.to(Point.HEAD).turns(turns).records(LeftTurns.KIND, RewoundTurns.KIND);
	}

	private Plan<Step> redone(PathView path, int turns) {
		long head = path.session().head();
		LeftTurns left = this.paths.newestAt(path, head);
		if (left == null) {
			return Plan.nothing(Step.NONE);
		}
		WayForward way = WayForward.over(turns, comingBack(left), head, this.paths.behind(head, left.tip()));
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
		Set<Long> made = this.resets.turns();
		return left.without((reset) -> made.contains(reset.turn()) || this.paths.turn(reset.turn()).isEmpty());
	}

	/** Plans the move to the next stop of a way. */
	private Plan<Step> ahead(PathView path, WayForward way, List<Turn> turns, String what) {
		Session session = path.session();
		RecordWrite left = way.rest().left().writeRest(session.key(), this.changes.codec());
		Plan<Step> plan = Plan.move(session.branch(), way.stop(), Step.of(turns, way), left);
		LeftTurns.Reset reset = way.reset();
		return (reset != null) ? plan.with(this.resets.again(path, reset, what), session.key(), this.changes.codec())
				: plan;
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
		RewoundTurns.check(path.session().key(), path.records(RewoundTurns.KIND), this.changes.codec(), turns);
	}

	/**
	 * Makes a turn that the head has left active again, with the turns behind it.
	 */
	Turn choose(long number) {
		String what = "moved to another turn";
		Step first = this.changes.make(what, forward(new Tail(number + 1, 1)), () -> {
			throw this.changes.notFound();
		}, (path) -> chosen(path, number, what));
		finish(what, first);
		return first.turns().get(0);
	}

	private Plan<Step> chosen(PathView path, long number, String what) {
		Session session = path.session();
		if (isOn(path, number)) {
			return Plan.nothing(new Step(path.turns(), null));
		}
		LeftTurns there = left(path, number);
		Turn turn = this.paths.turn(number).orElseThrow(this.changes::notFound);
		long fork = fork(session, there);
		List<Turn> back = this.paths.behind(fork, there.tip());
		checkEffects(path, back);
		Plan<Step> plan = ahead(path, WayForward.whole(comingBack(there), fork, back), List.of(turn), what);
		for (RecordWrite each : without(path, back, there)) {
			plan = plan.and(each);
		}
		return (session.head() != fork) ? plan.and(leaving(path, fork, what)) : plan;
	}

	/** Returns whether the turn is on the path, of which just that turn was read. */
	private static boolean isOn(PathView path, long number) {
		return !path.turns().isEmpty() && path.turns().get(0).number() == number;
	}

	/** Returns the turns that were left last of those that begin with a turn. */
	private LeftTurns left(PathView path, long number) {
		return this.paths.all(path, (left) -> left.hasTurns() && left.first() == number)
			.stream()
			.max(Comparator.comparingLong(LeftTurns::at))
			.orElseThrow(() -> new ChangeRefusedException(
					"Turn " + number + " of session " + path.session().key() + " is none that was left on branch '"
							+ path.session().branch()
							+ "'. Name one of siblings(..), or use branch(..) and switchTo(..).",
					Reason.NOT_ON_BRANCH));
	}

	/** Creates the write that remembers the turns between a fork and the head. */
	private RecordWrite leaving(PathView path, long fork, String what) {
		Session session = path.session();
		List<Turn> leaving = LeftPaths.filled(this.paths.behind(fork, session.head()));
		this.changes.checkRewindsEnded(path, leaving, what);
		long first = leaving.isEmpty() ? session.head() : leaving.get(0).number();
		return new LeftTurns(session.head(), session.branch(), fork, first, session.version()).write(session.key(),
				this.changes.codec());
	}

	/**
	 * Returns the turn after which the way to turns that were left parts from the way to
	 * the head. It is another one than they remember if the head has left that one too.
	 */
	private long fork(Session session, LeftTurns there) {
		List<Turn> ahead = this.paths.behind(there.fork(), session.head());
		boolean onPath = session.head() == there.fork() || (!ahead.isEmpty() && ahead.get(0).parent() == there.fork());
		if (onPath) {
			return there.fork();
		}
		Set<Long> active = new HashSet<>(LeftPaths.numbers(this.paths.behind(0, session.head())));
		List<Turn> way = this.paths.behind(0, there.tip());
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
		Set<Long> again = new HashSet<>(LeftPaths.numbers(back));
		List<RecordWrite> writes = new ArrayList<>();
		for (LeftTurns left : this.paths.all(path,
				(each) -> each.tip() != there.tip() && again.contains(each.first()))) {
			List<Turn> way = this.paths.behind(left.fork(), left.tip());
			long fork = way.stream().mapToLong(Turn::number).filter(again::contains).max().orElse(left.fork());
			writes.add(LeftPaths.filled(way)
				.stream()
				.filter((turn) -> turn.number() > fork)
				.findFirst()
				.map((first) -> left.from(fork, first.number()).write(path.session().key(), this.changes.codec()))
				.orElseGet(left::delete));
		}
		return writes;
	}

}
