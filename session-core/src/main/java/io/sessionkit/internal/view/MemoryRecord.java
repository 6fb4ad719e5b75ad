package io.sessionkit.internal.view;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.codec.UnreadablePayloadException;
import io.sessionkit.codec.UnsupportedVersionException;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * The part of a memory that is not history: system messages, messages that wait for their
 * answer, and how much of the history the memory has evicted. It is one record of the
 * session, so the commit that stores an answer also takes its question out of the record.
 *
 * @param system the system messages
 * @param open a question that waits for its answer, with the tool rounds so far
 * @param hidden items up to this sequence are not in the memory; 0 for none
 * @param hiddenSummary the id of the summary that is not in the memory; empty for none
 * @param revision the revision of the record; 0 if there is none
 */
public record MemoryRecord(List<Message> system, List<Message> open, long hidden, String hiddenSummary, long revision) {

	/** The kind of the record. A session has one at most. */
	public static final String KIND = "chat-memory";

	private static final String ID = "memory";

	private static final long VERSION = 1;

	private static final MemoryRecord NONE = new MemoryRecord(List.of(), List.of(), 0, "", 0);

	public MemoryRecord {
		system = List.copyOf(system);
		open = List.copyOf(open);
	}

	/** Returns the same with other system messages. */
	public MemoryRecord system(List<Message> system) {
		return new MemoryRecord(system, this.open, this.hidden, this.hiddenSummary, this.revision);
	}

	/** Returns the same with another question that waits. */
	public MemoryRecord open(List<Message> open) {
		return new MemoryRecord(this.system, open, this.hidden, this.hiddenSummary, this.revision);
	}

	/** Returns the same with more of the history evicted. */
	public MemoryRecord hidden(long hidden, String hiddenSummary) {
		return new MemoryRecord(this.system, this.open, hidden, hiddenSummary, this.revision);
	}

	/** Returns the writes that replace the record that was read with this one. */
	public List<RecordWrite> write(MemoryRecord read, SessionKey key, MessageCodec codec) {
		if (equals(read)) {
			return List.of();
		}
		boolean empty = this.system.isEmpty() && this.open.isEmpty() && this.hidden == 0
				&& this.hiddenSummary.isEmpty();
		return List.of(new RecordWrite(KIND, ID, read.revision, empty ? null : payload(key, codec), null));
	}

	/**
	 * Returns the writes that give the system messages to a copy of the session. A
	 * question that waits, and what was evicted, are matters of the original.
	 */
	public List<RecordWrite> copy(SessionKey to, MessageCodec codec) {
		return NONE.system(this.system).write(NONE, to, codec);
	}

	private String payload(SessionKey key, MessageCodec codec) {
		Map<String, Object> values = new HashMap<>();
		values.put("version", VERSION);
		values.put("system", this.system.stream().map((message) -> codec.encode(key, message)).toList());
		values.put("open", this.open.stream().map((message) -> codec.encode(key, message)).toList());
		values.put("hidden", this.hidden);
		values.put("hiddenSummary", this.hiddenSummary);
		return codec.encodeValues(key, values);
	}

	/** Reads the record of a session, which may have none. */
	public static MemoryRecord of(List<SessionRecord> records, MessageCodec codec) {
		return records.isEmpty() ? NONE : read(records.get(0), codec);
	}

	private static MemoryRecord read(SessionRecord record, MessageCodec codec) {
		Map<String, @Nullable Object> values = codec.decodeValues(record.key(), record.payload());
		if (values.get("version") instanceof Long version && version > VERSION) {
			throw new UnsupportedVersionException("The chat memory of session " + record.key()
					+ " was written in version " + version + "; this one reads " + VERSION + ".");
		}
		if (values.get("system") instanceof List<?> system && values.get("open") instanceof List<?> open
				&& values.get("hidden") instanceof Long hidden
				&& values.get("hiddenSummary") instanceof String summary) {
			return new MemoryRecord(messages(record.key(), system, codec), messages(record.key(), open, codec), hidden,
					summary, record.revision());
		}
		throw new UnreadablePayloadException("The chat memory of session " + record.key() + " is not complete.", null);
	}

	private static List<Message> messages(SessionKey key, List<?> payloads, MessageCodec codec) {
		return payloads.stream().map((payload) -> codec.decode(key, (String) payload)).toList();
	}

}
