package io.sessionkit.conversation;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.Summary;
import io.sessionkit.Turn;
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
 * Starts the view of a session anew behind its head, and takes that back.
 */
final class Resets {

	private final TreeChanges changes;

	Resets(TreeChanges changes) {
		this.changes = changes;
	}

	/**
	 * Starts the view anew behind the head.
	 */
	void reset() {
		PathQuery query = PathQuery.to(Point.HEAD).turns(Tail.ALL).records(BegunRewinds.KIND);
		this.changes.make("reset", query, () -> false, (path) -> {
			this.changes.checkRewindsEnded(path, path.turns(), "reset");
			return fresh(path);
		});
	}

	private Plan<Boolean> fresh(PathView path) {
		Session session = path.session();
		if (session.head() == 0 || (session.totals().turns() == 0 && isInForce(path))) {
			return Plan.nothing(false);
		}
		Summary reset = Summaries.reset(session, seeded(path), this.changes.store().options());
		return new Plan<>(HeaderChange.NONE.summary(reset.turn(), reset.id()),
				List.of(Summaries.write(session.key(), reset, this.changes.codec())), true);
	}

	/** Returns whether the view starts with a reset. */
	boolean isInForce(PathView path) {
		SessionRecord summary = path.view().summary();
		return summary != null && Summaries.read(summary, this.changes.codec()).isReset();
	}

	/** Returns a reset anew, with what of the seed is still there. */
	Summary again(PathView path, LeftTurns.Reset reset, String what) {
		PathView there = this.changes.store()
			.path(this.changes.key(), PathQuery.to(Point.at(reset.turn())).turns(Tail.ALL))
			.orElseThrow(this.changes::notFound);
		this.changes.checkRewindsEnded(path, there.turns(), what);
		return Summaries.reset(there.view().session(), reset.bare() ? List.of() : seeded(there),
				this.changes.store().options());
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

	/** Returns the newest reset behind one of some turns; null if there is none. */
	@Nullable Summary newestBehind(List<Turn> turns) {
		Set<Long> numbers = new HashSet<>();
		turns.forEach((turn) -> numbers.add(turn.number()));
		return summaries().stream()
			.filter((summary) -> summary.isReset() && numbers.contains(summary.turn()))
			.max(Summaries.BY_AGE)
			.orElse(null);
	}

	/** Returns the turns behind which the session is reset. */
	Set<Long> turns() {
		return summaries().stream().filter(Summary::isReset).map(Summary::turn).collect(Collectors.toSet());
	}

	/**
	 * Plans to take a reset back. The head stays, and the store finds the summary that
	 * was in force before, unless the reset has taken the place of one that covers the
	 * same turns.
	 */
	Plan<List<Turn>> without(Session session, Summary reset) {
		RecordWrite deletion = new RecordWrite(SessionStore.SUMMARY, reset.id(), RecordWrite.ANY, null, null);
		return summaries().stream()
			.filter((summary) -> summary.turn() == reset.turn() && !summary.isReset())
			.max(Summaries.BY_AGE)
			.map((summary) -> new Plan<List<Turn>>(HeaderChange.NONE.summary(summary.turn(), summary.id()),
					List.of(deletion), List.of()))
			.orElseGet(() -> Plan.move(session.branch(), session.head(), List.of(), deletion));
	}

	private List<Summary> summaries() {
		return this.changes.store()
			.records(this.changes.key(), SessionStore.SUMMARY)
			.stream()
			.map((record) -> Summaries.read(record, this.changes.codec()))
			.toList();
	}

}
