package io.sessionkit.internal.snapshot;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.sessionkit.SessionKey;
import io.sessionkit.Snapshot;
import io.sessionkit.Turn;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.codec.UnstorableMessageException;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * Encodes and decodes the messages of a snapshot that are kept as they were sent.
 *
 * @param key the session
 * @param head the head that the turn was opened on, so that a deletion can tell what the
 * messages may quote
 * @param codec the codec that encodes them
 */
public record VerbatimMessages(SessionKey key, long head, MessageCodec codec) {

	private static final Log logger = LogFactory.getLog(VerbatimMessages.class);

	private static final String HEAD = "head";

	private static final String MESSAGES = "messages";

	String encode(List<Message> messages) {
		Map<String, @Nullable Object> values = new HashMap<>();
		values.put(HEAD, this.head);
		values.put(MESSAGES, messages.stream().map(this::encode).toList());
		return this.codec.encodeValues(this.key, values);
	}

	/**
	 * Encodes a message. A message that an advisor created may contain content that
	 * cannot be stored. The snapshot leaves that content out instead of refusing the
	 * message.
	 * @return the payload; an empty text if nothing of the message can be stored
	 */
	private String encode(Message message) {
		try {
			return this.codec.encode(this.key, this.codec.storable(message));
		}
		catch (UnstorableMessageException ex) {
			logger.warn("A message of " + message.getClass().getName() + " that was sent on session " + this.key
					+ " is missing in the snapshot: it cannot be stored.");
			return "";
		}
	}

	/**
	 * Encodes the messages of a record of another session for this one.
	 */
	public String copy(SessionRecord record) {
		Map<String, @Nullable Object> values = new HashMap<>();
		values.put(HEAD, this.head);
		values.put(MESSAGES,
				decode(record, this.codec).stream()
					.map((message) -> (message != null) ? encode(message) : "")
					.toList());
		return this.codec.encodeValues(this.key, values);
	}

	/**
	 * Returns the head that the messages of a record were sent on; 0 if the record has
	 * none.
	 */
	public static long head(SessionRecord record, MessageCodec codec) {
		return (codec.decodeValues(record.key(), record.payload()).get(HEAD) instanceof Number head) ? head.longValue()
				: 0;
	}

	/**
	 * Returns the deletions of the records of turns that go. Whether a turn has one is
	 * known by its snapshot, so that none has to be read.
	 */
	public static List<RecordWrite> delete(Collection<Turn> turns) {
		return turns.stream()
			.filter((turn) -> hasVerbatim(turn.snapshot()))
			.map((turn) -> new RecordWrite(SnapshotReader.KIND, turn.id(), RecordWrite.ANY, null, null))
			.toList();
	}

	private static boolean hasVerbatim(@Nullable Snapshot snapshot) {
		return snapshot != null && snapshot.parts().stream().anyMatch(Snapshot.Verbatim.class::isInstance);
	}

	/**
	 * Returns the messages of a record, with null for each one that could not be stored.
	 */
	static List<@Nullable Message> decode(SessionRecord record, MessageCodec codec) {
		List<@Nullable Message> messages = new ArrayList<>();
		if (codec.decodeValues(record.key(), record.payload()).get(MESSAGES) instanceof List<?> payloads) {
			for (Object payload : payloads) {
				String text = String.valueOf(payload);
				messages.add(text.isEmpty() ? null : codec.decode(record.key(), text));
			}
		}
		return messages;
	}

}
