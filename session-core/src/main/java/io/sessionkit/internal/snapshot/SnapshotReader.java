package io.sessionkit.internal.snapshot;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Snapshot;
import io.sessionkit.Snapshot.Part;
import io.sessionkit.Turn;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.context.SentHistory;
import io.sessionkit.internal.tree.StoredTurns;
import io.sessionkit.internal.view.Summaries;
import io.sessionkit.internal.view.ToolPruner;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;

/**
 * Finds the messages that a snapshot refers to, including those that are on another
 * branch by now. Used once, by one thread.
 */
public final class SnapshotReader {

	/** The kind of the records that hold values that a snapshot cannot refer to. */
	public static final String KIND = "snapshot";

	private final SessionKey key;

	private final SessionStore store;

	private final Map<String, SessionRecord> summaries = new HashMap<>();

	private final NavigableMap<Long, Found> items = new TreeMap<>();

	/** The turns whose messages were kept beside them; null until they are read. */
	private @Nullable Map<Long, SessionRecord> kept;

	/** A message and its turn. */
	private record Found(long turn, Message message) {
	}

	public SnapshotReader(SessionKey key, SessionStore store) {
		this.key = key;
		this.store = store;
	}

	/**
	 * Reads the history that was sent in a turn.
	 * @param number the number of the turn
	 * @return the history; empty if there is no such turn, or it has no snapshot
	 */
	public Optional<SentHistory> read(long number) {
		if (number < 1 || number == Long.MAX_VALUE) {
			return Optional.empty();
		}
		return StoredTurns.find(this.store, this.key, number).filter((turn) -> turn.snapshot() != null).map(this::read);
	}

	/**
	 * Reads the history that was sent in a turn.
	 * @return the history; an empty one if the turn has no snapshot
	 */
	public SentHistory read(Turn turn) {
		return read(turn, turn.snapshot());
	}

	/**
	 * Returns whether everything that some parts refer to exists.
	 */
	public boolean isThere(List<Part> parts) {
		find(parts);
		return parts.stream().allMatch((part) -> messages(part, Collections.emptyIterator()).size() == part.size());
	}

	private SentHistory read(Turn turn, @Nullable Snapshot snapshot) {
		if (snapshot == null) {
			return new SentHistory(turn.number(), List.of(), null, null, 0);
		}
		List<Part> parts = snapshot.parts();
		find(parts);
		Iterator<@Nullable Message> verbatim = verbatim(turn, parts);
		List<Message> messages = new ArrayList<>();
		parts.forEach((part) -> messages.addAll(messages(part, verbatim)));
		return new SentHistory(turn.number(), messages, snapshot.systemDigest(), snapshot.system(),
				parts.stream().mapToInt(Part::size).sum() - messages.size());
	}

	private List<Message> messages(Part part, Iterator<@Nullable Message> verbatim) {
		if (part instanceof Snapshot.Items run) {
			return items(run);
		}
		if (part instanceof Snapshot.Pruned pruned) {
			return pruned(pruned);
		}
		return (part instanceof Snapshot.Summary summary) ? pair(summary) : kept(part.size(), verbatim);
	}

	private List<Message> items(Snapshot.Items run) {
		return this.items.subMap(run.from(), true, run.to(), true).values().stream().map(Found::message).toList();
	}

	private List<Message> pruned(Snapshot.Pruned pruned) {
		Found item = this.items.get(pruned.sequence());
		return (item != null) ? List.of(pruned(item.message(), pruned.placeholder())) : List.of();
	}

	private static Message pruned(Message message, String placeholder) {
		return (message instanceof ToolResponseMessage results) ? ToolPruner.placeholders(results, placeholder)
				: message;
	}

	private List<Message> pair(Snapshot.Summary summary) {
		SessionRecord record = this.summaries.get(summary.summary());
		return (record != null) ? Summaries.pair(Summaries.read(record, this.store.options().codec()).text())
				: List.of();
	}

	private static List<Message> kept(int size, Iterator<@Nullable Message> verbatim) {
		List<Message> kept = new ArrayList<>();
		for (int i = 0; i < size && verbatim.hasNext(); i++) {
			Message message = verbatim.next();
			if (message != null) {
				kept.add(message);
			}
		}
		return kept;
	}

	private void find(List<Part> parts) {
		SnapshotRuns.of(parts).forEach(this::find);
		readSummaries(parts);
	}

	/**
	 * Reads the items of a run from the active branch. Items that are not on it are read
	 * from the turns of the run. Those turns lie between the turns of the items that were
	 * found.
	 */
	private void find(Snapshot.Items run) {
		this.store.items(this.key, new Tail(run.to() + 1, run.size()))
			.stream()
			.filter((item) -> item.sequence() >= run.from())
			.forEach(this::found);
		findKept(run);
		long searched = 0;
		for (long sequence = run.from(); sequence <= run.to(); sequence++) {
			if (!this.items.containsKey(sequence)) {
				searched = searchTurns(sequence, run, searched);
			}
		}
	}

	private void found(SessionItem item) {
		this.items.put(item.sequence(), new Found(item.turn(), item.message()));
	}

	/**
	 * Adds what is kept of the turns of a run that retention has deleted.
	 */
	private void findKept(Snapshot.Items run) {
		if (this.items.subMap(run.from(), true, run.to(), true).size() == run.size()) {
			return;
		}
		MessageCodec codec = this.store.options().codec();
		kept().forEach((turn, record) -> {
			if (turn >= run.firstTurn() && turn <= run.lastTurn()) {
				KeptTexts.read(record, codec)
					.forEach((sequence, message) -> this.items.putIfAbsent(sequence, new Found(turn, message)));
			}
		});
	}

	private Map<Long, SessionRecord> kept() {
		Map<Long, SessionRecord> known = this.kept;
		if (known == null) {
			known = this.store.records(this.key, KeptTexts.KIND)
				.stream()
				.collect(Collectors.toMap(KeptTexts::turn, Function.identity()));
			this.kept = known;
		}
		return known;
	}

	/**
	 * Reads turns of a run until an item is found.
	 * @param searched the last turn that was read for an earlier item of the run
	 * @return the last turn that was read
	 */
	private long searchTurns(long sequence, Snapshot.Items run, long searched) {
		long first = Math.max(turnBefore(sequence, run), searched + 1);
		long last = turnAfter(sequence, run);
		long read = searched;
		for (long turn = first; turn <= last && !this.items.containsKey(sequence); turn++) {
			this.store.items(this.key, turn).forEach(this::found);
			read = turn;
		}
		return read;
	}

	private long turnBefore(long sequence, Snapshot.Items run) {
		Map.Entry<Long, Found> before = this.items.lowerEntry(sequence);
		return (before != null) ? Math.max(run.firstTurn(), before.getValue().turn()) : run.firstTurn();
	}

	private long turnAfter(long sequence, Snapshot.Items run) {
		Map.Entry<Long, Found> after = this.items.higherEntry(sequence);
		return (after != null) ? Math.min(run.lastTurn(), after.getValue().turn()) : run.lastTurn();
	}

	private void readSummaries(List<Part> parts) {
		if (parts.stream().anyMatch(Snapshot.Summary.class::isInstance)) {
			this.summaries.putAll(records(SessionStore.SUMMARY));
		}
	}

	private Iterator<@Nullable Message> verbatim(Turn turn, List<Part> parts) {
		List<@Nullable Message> messages = new ArrayList<>();
		if (parts.stream().anyMatch(Snapshot.Verbatim.class::isInstance)) {
			SessionRecord record = records(KIND).get(turn.id());
			if (record != null) {
				messages.addAll(VerbatimMessages.decode(record, this.store.options().codec()));
			}
		}
		return messages.iterator();
	}

	private Map<String, SessionRecord> records(String kind) {
		return this.store.records(this.key, kind)
			.stream()
			.collect(Collectors.toMap(SessionRecord::id, Function.identity()));
	}

}
