package io.sessionkit.conversation;

import java.util.Comparator;
import java.util.List;

import io.sessionkit.Turn;
import io.sessionkit.internal.tree.LeftTurns;
import org.jspecify.annotations.Nullable;

/**
 * The way of the head forward to turns that it has left. It stops behind each turn at
 * which a reset comes back, because a commit can put one summary into force.
 *
 * @param left the turns that were left, with the resets that can come back
 * @param head where the way begins
 * @param behind the turns behind the head up to the tip, oldest first
 * @param end where the way ends
 * @param resetAtEnd whether a reset that was taken back at the end comes back too
 */
record WayForward(LeftTurns left, long head, List<Turn> behind, long end, boolean resetAtEnd) {

	/** Returns the way to the tip. */
	static WayForward whole(LeftTurns left, long head, List<Turn> behind) {
		return new WayForward(left, head, behind, left.tip(), true);
	}

	/**
	 * Returns the way over some turns. If there are fewer, it ends at the last reset
	 * behind them.
	 */
	static WayForward over(int turns, LeftTurns left, long head, List<Turn> behind) {
		List<Turn> filled = behind.stream().filter((turn) -> turn.items() > 0).toList();
		if (filled.size() >= turns) {
			return new WayForward(left, head, behind, filled.get(turns - 1).number(), false);
		}
		long last = filled.isEmpty() ? head : filled.get(filled.size() - 1).number();
		long end = left.resets().stream().mapToLong(LeftTurns.Reset::turn).reduce(last, Math::max);
		return new WayForward(left, head, behind, end, true);
	}

	/** Returns whether it leads nowhere and brings no reset back. */
	boolean isOver() {
		return this.end == this.head && reset() == null;
	}

	/** Returns the reset that comes back first; null if none does. */
	LeftTurns.@Nullable Reset reset() {
		return this.left.resets()
			.stream()
			.filter((reset) -> this.resetAtEnd || reset.turn() < this.end)
			.min(Comparator.comparingLong(LeftTurns.Reset::turn))
			.orElse(null);
	}

	/** Returns where the next commit leads. */
	long stop() {
		LeftTurns.Reset reset = reset();
		return (reset != null) ? Math.max(this.head, reset.turn()) : this.end;
	}

	/** Returns the turns up to the end, also those without items. */
	List<Turn> turns() {
		return this.behind.stream().filter((turn) -> turn.number() <= this.end).toList();
	}

	/** Returns the turns with items up to the next stop, oldest first. */
	List<Turn> again() {
		return this.behind.stream().filter((turn) -> turn.items() > 0 && turn.number() <= stop()).toList();
	}

	/** Returns the way behind the next stop. */
	WayForward rest() {
		long stop = stop();
		List<Turn> rest = this.behind.stream().filter((turn) -> turn.number() > stop).toList();
		long next = rest.stream().filter((turn) -> turn.items() > 0).findFirst().map(Turn::number).orElse(0L);
		LeftTurns without = this.left.without((reset) -> reset.equals(reset()));
		return new WayForward(without.from(stop, next), stop, rest, this.end, this.resetAtEnd);
	}

}
