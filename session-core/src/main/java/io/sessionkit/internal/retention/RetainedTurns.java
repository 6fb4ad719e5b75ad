package io.sessionkit.internal.retention;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Snapshot;
import io.sessionkit.Turn;
import io.sessionkit.internal.snapshot.KeptTexts;
import io.sessionkit.store.PathQuery;
import io.sessionkit.store.Point;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Window;

/**
 * The messages of turns that are about to be deleted, as far as snapshots of the turns
 * that stay refer to them. Used once, by one thread.
 */
final class RetainedTurns {

	private final SessionKey key;

	private final SessionStore store;

	private final Map<Long, Turn> turns;

	/** The first turn that stays. */
	private final long before;

	/** The items that the snapshots of the turns that stay refer to. */
	private final List<Snapshot.Items> shown = new ArrayList<>();

	/**
	 * @param turns the turns of the session by number
	 * @param before the first turn that stays
	 */
	RetainedTurns(SessionKey key, SessionStore store, NavigableMap<Long, Turn> turns, long before) {
		this.key = key;
		this.store = store;
		this.turns = turns;
		this.before = before;
		turns.tailMap(before).values().forEach(this::addShown);
	}

	private void addShown(Turn turn) {
		Snapshot snapshot = turn.snapshot();
		List<Snapshot.Part> parts = (snapshot != null) ? snapshot.parts() : List.of();
		for (Snapshot.Part part : parts) {
			Snapshot.Items run = (part instanceof Snapshot.Items items) ? items : (part instanceof Snapshot.Pruned one)
					? new Snapshot.Items(one.sequence(), one.sequence(), one.turn(), one.turn()) : null;
			if (run != null && run.firstTurn() < this.before) {
				this.shown.add(run);
			}
		}
	}

	/**
	 * Returns the writes of the messages that snapshots refer to, one record for each
	 * turn, and the deletions of records to which none refers any more.
	 * @param kept the turns that have such records
	 */
	List<RecordWrite> records(Set<Long> kept) {
		List<RecordWrite> records = new ArrayList<>();
		items().forEach((turn, items) -> {
			List<SessionItem> wanted = items.stream().filter(this::isShown).toList();
			if (!wanted.isEmpty()) {
				records.add(KeptTexts.write(this.key, turn, wanted, this.store.options().codec()));
			}
		});
		kept.stream().filter((turn) -> !isShown(turn)).map(KeptTexts::delete).forEach(records::add);
		return records;
	}

	private boolean isShown(SessionItem item) {
		return this.shown.stream().anyMatch((run) -> run.from() <= item.sequence() && item.sequence() <= run.to());
	}

	private boolean isShown(long turn) {
		return this.shown.stream().anyMatch((run) -> run.firstTurn() <= turn && turn <= run.lastTurn());
	}

	/** Reads the items of the turns that go and that are shown. */
	private Map<Long, List<SessionItem>> items() {
		Set<Long> wanted = new HashSet<>();
		for (Turn turn : this.turns.values()) {
			if (turn.number() < this.before && turn.items() > 0 && isShown(turn.number())) {
				wanted.add(turn.number());
			}
		}
		Map<Long, List<SessionItem>> found = new TreeMap<>();
		readTogether(wanted, found);
		for (long turn : wanted) {
			if (!found.containsKey(turn)) {
				found.put(turn, this.store.items(this.key, turn));
			}
		}
		return found;
	}

	/**
	 * Reads those that are in the view as of the newest turn that goes, which is one of
	 * the history.
	 */
	private void readTogether(Set<Long> wanted, Map<Long, List<SessionItem>> found) {
		int count = 0;
		int size = 0;
		long end = this.before - 1;
		for (Turn turn = this.turns.get(end); turn != null; turn = this.turns.get(turn.parent())) {
			size += (turn.items() > 0) ? 1 : 0;
			count = wanted.contains(turn.number()) ? size : count;
		}
		if (count == 0) {
			return;
		}
		Map<Long, List<SessionItem>> read = new HashMap<>();
		this.store.path(this.key, PathQuery.to(Point.at(end)).window(Window.turns(count)))
			.ifPresent((path) -> path.view()
				.items()
				.forEach((item) -> read.computeIfAbsent(item.turn(), (turn) -> new ArrayList<>()).add(item)));
		read.keySet().retainAll(wanted);
		found.putAll(read);
	}

}
