package io.sessionkit.conversation;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.sessionkit.Session;
import io.sessionkit.Summary;
import io.sessionkit.Turn;
import io.sessionkit.conversation.TreeChanges.Plan;
import io.sessionkit.internal.tree.BegunRewinds;
import io.sessionkit.internal.tree.LeftTurns;
import io.sessionkit.store.PathQuery;
import io.sessionkit.store.PathView;
import io.sessionkit.store.Point;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.Tail;
import org.jspecify.annotations.Nullable;

/**
 * Moves the head of a session back, and remembers what it leaves.
 */
final class MovesBack {

	/** The turns to read at a time if some of the newest ones have no items. */
	private static final int MORE = 1000;

	private final TreeChanges changes;

	private final LeftPaths paths;

	private final Resets resets;

	MovesBack(TreeChanges changes) {
		this.changes = changes;
		this.paths = new LeftPaths(changes);
		this.resets = new Resets(changes);
	}

	List<Turn> undo(int turns) {
		this.changes.checkNumber(turns, "undone");
		return this.changes.make("undone", back(turns), List::of, (path) -> {
			this.changes.checkRewindsEnded(path, gone(path, turns).turns(), "undone");
			return undone(path, turns);
		});
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
		Summary reset = maybeReset ? this.resets.newestBehind(leaving) : null;
		List<Turn> filled = LeftPaths.filled(leaving)
			.stream()
			.filter((turn) -> reset == null || turn.number() > reset.turn())
			.toList();
		boolean toTheBeginning = filled.size() < turns;
		long before = (toTheBeginning || filled.isEmpty()) ? start(reset) : filled.get(0).number() - 1;
		List<Turn> all = leaving.stream().filter((turn) -> turn.number() > before).toList();
		boolean isCut = toTheBeginning && reset == null && !this.resets.isInForce(path);
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
		while (LeftPaths.filled(newest).size() < turns && read.size() > turns) {
			Tail more = Tail.newest(Math.max(MORE, turns + 1)).before(read.get(0).number());
			read = this.changes.store()
				.path(this.changes.key(), PathQuery.to(Point.HEAD).turns(more))
				.map(PathView::turns)
				.orElse(List.of());
			newest.addAll(0, read);
		}
		List<Turn> filled = LeftPaths.filled(newest);
		if (filled.size() < turns) {
			return newest;
		}
		int oldest = (turns > 0) ? newest.indexOf(filled.get(filled.size() - turns)) : newest.size();
		return newest.subList(oldest, newest.size());
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
			boolean same = LeftPaths.numbers(gone(path, turns.size()).turns()).equals(LeftPaths.numbers(turns));
			return same ? undone(path, turns.size()) : Plan.nothing(other.get());
		});
	}

	private Plan<List<Turn>> undone(PathView path, int turns) {
		Session session = path.session();
		Gone leaving = gone(path, turns);
		List<Turn> gone = leaving.turns();
		Summary reset = leaving.reset();
		if (gone.isEmpty()) {
			// A reset that a later summary covers is not taken back. That holds even if
			// retention has deleted all turns behind it.
			return (reset != null && reset.id().equals(session.summaryId()))
					? this.resets.without(session, reset).and(left(path, reset)) : Plan.nothing(List.of());
		}
		Turn first = gone.get(gone.size() - 1);
		LeftTurns left = left(path, first.parent(), first.number());
		return Plan.move(session.branch(), first.parent(), gone, left.write(session.key(), this.changes.codec()));
	}

	/**
	 * Returns what is left by a move back. If the head stands where an undo has left it,
	 * the turns that were undone then are left by this one too.
	 */
	private LeftTurns left(PathView path, long fork, long first) {
		Session session = path.session();
		LeftTurns before = this.paths.newestAt(path, session.head());
		return (before != null) ? before.from(fork, first)
				: new LeftTurns(session.head(), session.branch(), fork, first, session.version());
	}

	/** Creates the write that remembers a reset that is taken back. */
	private RecordWrite left(PathView path, Summary reset) {
		Session session = path.session();
		LeftTurns before = this.paths.newestAt(path, session.head());
		LeftTurns left = (before != null) ? before
				: new LeftTurns(session.head(), session.branch(), session.head(), 0, session.version());
		return left.with(new LeftTurns.Reset(reset.turn(), reset.pinned().isEmpty()))
			.write(session.key(), this.changes.codec());
	}

}
