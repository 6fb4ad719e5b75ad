package io.sessionkit.internal.snapshot;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

import io.sessionkit.Snapshot;
import io.sessionkit.Snapshot.Items;
import io.sessionkit.Snapshot.Part;

/**
 * Combines the items that a snapshot refers to into runs that can be read at once. Pruned
 * items are in the same run as the items around them.
 */
final class SnapshotRuns {

	private SnapshotRuns() {
	}

	static List<Items> of(List<Part> parts) {
		List<Items> runs = new ArrayList<>();
		parts.stream()
			.flatMap(SnapshotRuns::items)
			.sorted(Comparator.comparingLong(Items::from))
			.forEach((run) -> join(runs, run));
		return runs;
	}

	/** Adds a run, or extends the last one if nothing lies between them. */
	private static void join(List<Items> runs, Items run) {
		Items last = runs.isEmpty() ? null : runs.get(runs.size() - 1);
		if (last != null && run.from() <= last.to() + 1) {
			runs.set(runs.size() - 1, new Items(last.from(), Math.max(last.to(), run.to()), last.firstTurn(),
					Math.max(last.lastTurn(), run.lastTurn())));
		}
		else {
			runs.add(run);
		}
	}

	private static Stream<Items> items(Part part) {
		if (part instanceof Items items) {
			return Stream.of(items);
		}
		return (part instanceof Snapshot.Pruned pruned)
				? Stream.of(new Items(pruned.sequence(), pruned.sequence(), pruned.turn(), pruned.turn()))
				: Stream.empty();
	}

}
