package io.sessionkit.conversation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

import io.sessionkit.SessionKey;
import io.sessionkit.Snapshot;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.internal.snapshot.KeptTexts;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * The items of a session that is copied, with their new sequences, and the items that
 * only its snapshots still refer to. Those have sequences before the first item of the
 * copy: 0, -1 and so on. What retention has set aside of them is copied too; the others
 * were deleted, and are missing in the copy as they are in the original. Used once, by
 * one thread.
 */
final class ForkedItems {

	/**
	 * The place of an item in the copy. The turn is 0 if nobody has the item any more.
	 */
	record Place(long sequence, long turn) {
	}

	/** The items by their sequence in the original. */
	private final NavigableMap<Long, Place> places = new TreeMap<>();

	/** The ranges that snapshots refer to: the last sequence by the first one. */
	private NavigableMap<Long, Long> shown = new TreeMap<>();

	/** The messages that were set aside when turns were deleted, by turn and sequence. */
	private final Map<Long, NavigableMap<Long, Message>> kept = new TreeMap<>();

	/** The last sequence by the first one of ranges that are ranges in the copy too. */
	private final NavigableMap<Long, Long> ranges = new TreeMap<>();

	/**
	 * Adds what a snapshot refers to.
	 */
	void addShown(@Nullable Snapshot snapshot) {
		List<Snapshot.Part> parts = (snapshot != null) ? snapshot.parts() : List.of();
		for (Snapshot.Part part : parts) {
			if (part instanceof Snapshot.Items run) {
				this.shown.merge(run.from(), run.to(), Math::max);
			}
			else if (part instanceof Snapshot.Pruned pruned) {
				this.shown.merge(pruned.sequence(), pruned.sequence(), Math::max);
			}
		}
	}

	/**
	 * Adds what was set aside of the turns, as far as the snapshots refer to it.
	 */
	void addKept(List<SessionRecord> records, MessageCodec codec) {
		this.shown = joined(this.shown);
		for (SessionRecord record : records) {
			NavigableMap<Long, Message> messages = KeptTexts.read(record, codec);
			messages.keySet().removeIf((sequence) -> !isShown(sequence));
			if (!messages.isEmpty()) {
				this.kept.put(KeptTexts.turn(record), messages);
			}
		}
	}

	private static NavigableMap<Long, Long> joined(NavigableMap<Long, Long> ranges) {
		NavigableMap<Long, Long> joined = new TreeMap<>();
		ranges.forEach((from, to) -> {
			Map.Entry<Long, Long> last = joined.lastEntry();
			if (last != null && from <= last.getValue() + 1) {
				joined.put(last.getKey(), Math.max(last.getValue(), to));
			}
			else {
				joined.put(from, to);
			}
		});
		return joined;
	}

	private boolean isShown(long sequence) {
		Map.Entry<Long, Long> range = this.shown.floorEntry(sequence);
		return range != null && sequence <= range.getValue();
	}

	/**
	 * Returns the turns of which something was set aside.
	 */
	Set<Long> keptTurns() {
		return this.kept.keySet();
	}

	/**
	 * Adds the next item of the copy.
	 * @param turn the number of its turn in the copy
	 */
	void add(long sequence, long turn) {
		this.places.put(sequence, new Place(this.places.size() + 1L, turn));
	}

	/**
	 * Gives places to what only snapshots refer to, after all items were added.
	 * @param numbers the new number of each turn
	 */
	void placeWhatIsShown(Map<Long, Long> numbers) {
		Map<Long, Long> turns = new HashMap<>();
		this.kept.forEach((turn, messages) -> messages.keySet()
			.forEach((sequence) -> turns.put(sequence, numbers.getOrDefault(turn, 0L))));
		List<Long> aside = new ArrayList<>();
		this.shown.forEach((from, to) -> {
			for (long sequence = from; sequence <= to; sequence++) {
				if (!this.places.containsKey(sequence)) {
					aside.add(sequence);
				}
			}
		});
		for (int i = 0; i < aside.size(); i++) {
			long sequence = aside.get(i);
			this.places.put(sequence, new Place(i + 1L - aside.size(), turns.getOrDefault(sequence, 0L)));
		}
		findRanges();
	}

	private void findRanges() {
		long first = 0;
		long last = 0;
		Place before = null;
		for (Map.Entry<Long, Place> each : this.places.entrySet()) {
			Place place = each.getValue();
			boolean continues = before != null && each.getKey() == last + 1 && place.sequence() == before.sequence() + 1
					&& place.turn() >= before.turn();
			first = continues ? first : each.getKey();
			last = each.getKey();
			before = place;
			this.ranges.put(first, last);
		}
	}

	/**
	 * Returns the place of an item; null if the copy has no such item.
	 */
	@Nullable Place find(long sequence) {
		Place place = this.places.get(sequence);
		return (place != null && place.sequence() > 0) ? place : null;
	}

	/**
	 * Returns the writes of what was set aside, for the copy.
	 */
	List<RecordWrite> kept(SessionKey to, Map<Long, Long> numbers, MessageCodec codec) {
		List<RecordWrite> records = new ArrayList<>();
		this.kept.forEach((turn, messages) -> {
			NavigableMap<Long, Message> moved = new TreeMap<>();
			messages.forEach((sequence, message) -> moved.put(place(sequence).sequence(), message));
			records.add(KeptTexts.write(to, numbers.getOrDefault(turn, 0L), moved, codec));
		});
		return records;
	}

	private Place place(long sequence) {
		return this.places.getOrDefault(sequence, new Place(sequence, 0));
	}

	/**
	 * Returns a snapshot of the original for the copy.
	 */
	@Nullable Snapshot copy(@Nullable Snapshot snapshot) {
		if (snapshot == null) {
			return null;
		}
		List<Snapshot.Part> parts = new ArrayList<>();
		for (Snapshot.Part part : snapshot.parts()) {
			if (part instanceof Snapshot.Items run) {
				parts.addAll(copy(run));
			}
			else if (part instanceof Snapshot.Pruned pruned) {
				Place place = place(pruned.sequence());
				parts.add(new Snapshot.Pruned(place.sequence(), place.turn(), pruned.placeholder()));
			}
			else {
				parts.add(part);
			}
		}
		return new Snapshot(snapshot.systemDigest(), snapshot.system(), parts);
	}

	private List<Snapshot.Items> copy(Snapshot.Items run) {
		List<Snapshot.Items> copies = new ArrayList<>();
		Long start = this.ranges.floorKey(run.from());
		if (start == null) {
			return copies;
		}
		this.ranges.subMap(start, true, run.to(), true).forEach((from, to) -> {
			Place first = place(Math.max(from, run.from()));
			Place last = place(Math.min(to, run.to()));
			copies.add(new Snapshot.Items(first.sequence(), last.sequence(), first.turn(), last.turn()));
		});
		return copies;
	}

}
