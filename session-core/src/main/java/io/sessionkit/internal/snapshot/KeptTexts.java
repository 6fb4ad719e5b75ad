package io.sessionkit.internal.snapshot;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * The messages of a turn that retention has deleted, as far as snapshots of turns that
 * stay refer to them. All these snapshots share the one record of the turn, which goes
 * with the last of them.
 */
public final class KeptTexts {

	/** The kind of these records. The id of one is the number of its turn. */
	public static final String KIND = "kept";

	/**
	 * The kind of the record that says what the newest deletion of the oldest turns has
	 * done.
	 */
	public static final String RETENTION = "retention";

	private static final String SEQUENCES = "sequences";

	private static final String MESSAGES = "messages";

	private KeptTexts() {
	}

	public static RecordWrite write(SessionKey key, long turn, List<SessionItem> items, MessageCodec codec) {
		NavigableMap<Long, Message> messages = new TreeMap<>();
		items.forEach((item) -> messages.put(item.sequence(), item.message()));
		return write(key, turn, messages, codec);
	}

	/**
	 * Writes the record of a turn.
	 * @param items the messages by their sequence
	 */
	public static RecordWrite write(SessionKey key, long turn, NavigableMap<Long, Message> items, MessageCodec codec) {
		List<String> messages = items.values().stream().map((message) -> codec.encode(key, message)).toList();
		return RecordWrite.put(KIND, Long.toString(turn),
				codec.encodeValues(key, Map.of(SEQUENCES, List.copyOf(items.keySet()), MESSAGES, messages)));
	}

	/**
	 * Adds messages to what is kept of a turn.
	 * @param there the record of the turn; null if there is none
	 * @param items the messages by their sequence
	 * @return the write; null if the record has all of them, or must not have any since
	 * the turn was deleted by its number
	 */
	static @Nullable RecordWrite add(SessionKey key, long turn, @Nullable SessionRecord there,
			NavigableMap<Long, Message> items, MessageCodec codec) {
		NavigableMap<Long, Message> all = (there != null) ? read(there, codec) : new TreeMap<>();
		if (there != null && (all.isEmpty() || all.keySet().containsAll(items.keySet()))) {
			return null;
		}
		items.forEach(all::putIfAbsent);
		return write(key, turn, all, codec);
	}

	/**
	 * Deletes what is kept of a turn. An empty record stays until the next deletion of
	 * the oldest turns: a turn that was shown the messages, and has not ended, must not
	 * write them again.
	 */
	public static RecordWrite deleteForGood(SessionKey key, long turn, MessageCodec codec) {
		return write(key, turn, new TreeMap<>(), codec);
	}

	public static RecordWrite delete(long turn) {
		return new RecordWrite(KIND, Long.toString(turn), RecordWrite.ANY, null, null);
	}

	/**
	 * Returns the turn whose messages a record has.
	 */
	public static long turn(SessionRecord record) {
		return Long.parseLong(record.id());
	}

	/**
	 * Returns the messages of a record by their sequence.
	 */
	public static NavigableMap<Long, Message> read(SessionRecord record, MessageCodec codec) {
		NavigableMap<Long, Message> found = new TreeMap<>();
		Map<String, @Nullable Object> values = codec.decodeValues(record.key(), record.payload());
		if (values.get(SEQUENCES) instanceof List<?> sequences && values.get(MESSAGES) instanceof List<?> messages) {
			List<Object> payloads = new ArrayList<>(messages);
			for (int i = 0; i < Math.min(sequences.size(), payloads.size()); i++) {
				if (sequences.get(i) instanceof Number sequence) {
					found.put(sequence.longValue(), codec.decode(record.key(), String.valueOf(payloads.get(i))));
				}
			}
		}
		return found;
	}

}
