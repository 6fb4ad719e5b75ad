package io.sessionkit.internal.snapshot;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Snapshot;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.internal.LoneSurrogates;
import io.sessionkit.internal.Sha256;
import io.sessionkit.internal.message.CurrentTurn;
import io.sessionkit.internal.view.Summaries;
import io.sessionkit.internal.view.ViewLine;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionView;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;

/**
 * Takes the snapshot of one turn, from the first request that leaves for the model. Safe
 * for use by many threads.
 */
public final class SnapshotTaker {

	private final List<ViewLine> view;

	private final VerbatimMessages verbatim;

	private final boolean keepsSystem;

	private @Nullable Taken taken;

	/**
	 * A snapshot, and the content that it cannot refer to.
	 *
	 * @param snapshot the snapshot
	 * @param record the content of the record that belongs to it; null if none is needed
	 */
	public record Taken(Snapshot snapshot, @Nullable String record) {
	}

	/**
	 * Creates a taker for one turn.
	 * @param view the lines that the history is made of
	 * @param keepsSystem whether the system text is kept too
	 */
	public SnapshotTaker(List<ViewLine> view, VerbatimMessages verbatim, boolean keepsSystem) {
		this.view = view;
		this.verbatim = verbatim;
		this.keepsSystem = keepsSystem;
	}

	/**
	 * Returns the snapshot that was taken; null if no model was called.
	 */
	public synchronized @Nullable Taken taken() {
		return this.taken;
	}

	/**
	 * Returns the parts of the session that the history was made of before it was sent.
	 */
	public List<Snapshot.Part> view() {
		return view(0);
	}

	/**
	 * Returns these parts without the turns before one.
	 * @param first the turn
	 */
	public List<Snapshot.Part> view(long first) {
		List<ViewLine> own = this.view.stream()
			.filter((line) -> !(line.source() instanceof ViewLine.Source.Brought))
			.filter((line) -> line.turn() == 0 || line.turn() >= first)
			.toList();
		return SnapshotParts.of(own.stream().map(ViewLine::message).toList(), own).parts();
	}

	/**
	 * Returns how many turns of the session the history was made of, at least 1.
	 */
	public int turns() {
		return Math.max(1,
				(int) this.view.stream().mapToLong(ViewLine::turn).filter((turn) -> turn > 0).distinct().count());
	}

	/**
	 * Returns the newest turn of the session that the history was made of.
	 * @return its number; 0 for none
	 */
	public long newestTurn() {
		return this.view.stream().mapToLong(ViewLine::turn).filter((turn) -> turn > 0).max().orElse(0);
	}

	/**
	 * Returns when the oldest item of the session was added that the history was made of.
	 * @return the time; null without an item
	 */
	public @Nullable Instant oldest() {
		return items().map(ViewLine.Source.Item::at).min(Comparator.naturalOrder()).orElse(null);
	}

	private Stream<ViewLine.Source.Item> items() {
		return this.view.stream()
			.map(ViewLine::source)
			.filter(ViewLine.Source.Item.class::isInstance)
			.map(ViewLine.Source.Item.class::cast);
	}

	/**
	 * Returns whether items are of another history than the one that was made, although
	 * they have the same numbers: the store has lost turns, and others have written
	 * since.
	 * @param items items of one turn
	 */
	public boolean areOfAnother(List<SessionItem> items) {
		Map<Long, Instant> times = items.stream().collect(Collectors.toMap(SessionItem::sequence, SessionItem::at));
		return items().anyMatch((item) -> !times.getOrDefault(item.sequence(), item.at()).equals(item.at()));
	}

	/**
	 * Returns whether a view has all items that the history was made of, but for turns
	 * before one.
	 * @param first the turn
	 */
	public boolean isIn(SessionView now, long first, MessageCodec codec) {
		Set<Long> there = new HashSet<>();
		now.items().forEach((item) -> there.add(item.sequence()));
		if (now.summary() != null) {
			Summaries.read(now.summary(), codec).pinned().forEach((item) -> there.add(item.sequence()));
		}
		return this.view.stream()
			.filter((line) -> line.turn() >= first)
			.allMatch((line) -> sequence(line) == 0 || there.contains(sequence(line)));
	}

	private static long sequence(ViewLine line) {
		if (line.source() instanceof ViewLine.Source.Item item) {
			return item.sequence();
		}
		return (line.source() instanceof ViewLine.Source.Pruned pruned) ? pruned.sequence() : 0;
	}

	/**
	 * Returns the writes of the messages that the snapshot shows of turns that were
	 * deleted since the view was read.
	 * @param before the first turn that was not deleted
	 * @param kept the records of what is kept of deleted turns
	 */
	public List<RecordWrite> deletedSince(SessionKey key, long before, List<SessionRecord> kept, MessageCodec codec) {
		Map<Long, SessionRecord> there = kept.stream().collect(Collectors.toMap(KeptTexts::turn, Function.identity()));
		List<RecordWrite> records = new ArrayList<>();
		shownBefore(before).forEach((turn, items) -> {
			RecordWrite write = KeptTexts.add(key, turn, there.get(turn), items, codec);
			if (write != null) {
				records.add(write);
			}
		});
		return records;
	}

	/**
	 * Returns whether the view had a turn of which nothing is to be kept, since it was
	 * deleted by its number.
	 * @param kept the records of what is kept of deleted turns
	 */
	public boolean showsDeletedForGood(List<SessionRecord> kept, MessageCodec codec) {
		Set<Long> turns = this.view.stream().map(ViewLine::turn).collect(Collectors.toSet());
		return kept.stream()
			.anyMatch((record) -> turns.contains(KeptTexts.turn(record)) && KeptTexts.read(record, codec).isEmpty());
	}

	/** Returns the messages that the snapshot refers to, by turn and sequence. */
	private Map<Long, NavigableMap<Long, Message>> shownBefore(long before) {
		Taken known = taken();
		List<Snapshot.Items> runs = (known != null) ? SnapshotRuns.of(known.snapshot().parts()) : List.of();
		Map<Long, NavigableMap<Long, Message>> shown = new TreeMap<>();
		for (ViewLine line : this.view) {
			long sequence = sequence(line.source());
			if (line.turn() > 0 && line.turn() < before
					&& runs.stream().anyMatch((run) -> run.from() <= sequence && sequence <= run.to())) {
				shown.computeIfAbsent(line.turn(), (turn) -> new TreeMap<>()).put(sequence, line.message());
			}
		}
		return shown;
	}

	private static long sequence(ViewLine.Source source) {
		if (source instanceof ViewLine.Source.Item item) {
			return item.sequence();
		}
		return (source instanceof ViewLine.Source.Pruned pruned) ? pruned.sequence() : 0;
	}

	/**
	 * Takes the snapshot if there is none yet.
	 * @param request the request that leaves for the model
	 * @param turn the messages of the turn so far
	 */
	public synchronized void take(List<Message> request, List<Message> turn) {
		if (this.taken != null) {
			return;
		}
		List<Message> messages = request.stream().filter((message) -> !(message instanceof SystemMessage)).toList();
		List<Message> history = messages.subList(0, CurrentTurn.start(messages, turn));
		SnapshotParts parts = SnapshotParts.of(history, this.view);
		String system = system(request);
		Snapshot snapshot = new Snapshot((system != null) ? Sha256.of(system) : null,
				(system != null && this.keepsSystem) ? LoneSurrogates.replaced(system) : null, parts.parts());
		this.taken = new Taken(snapshot, parts.verbatim().isEmpty() ? null : this.verbatim.encode(parts.verbatim()));
	}

	/**
	 * Returns the text of all system messages; null if there is none. Advisors may have
	 * added system messages, so there can be more than one.
	 */
	private static @Nullable String system(List<Message> request) {
		String text = null;
		for (Message each : request) {
			String more = (each instanceof SystemMessage) ? each.getText() : null;
			if (more != null && !more.isEmpty()) {
				text = (text != null) ? text + "\n\n" + more : more;
			}
		}
		return text;
	}

}
