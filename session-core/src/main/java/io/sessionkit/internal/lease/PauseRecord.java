package io.sessionkit.internal.lease;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.codec.UnreadablePayloadException;
import io.sessionkit.codec.UnsupportedVersionException;
import io.sessionkit.internal.attribute.AttributeChange;
import io.sessionkit.internal.attribute.JoiningInput;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;

/**
 * The data that any later call needs to continue an open turn.
 *
 * @param held the reply that the turn holds back
 * @param parts the number of stored parts of the turn
 * @param attributes the changes that the turn has made to the attributes
 * @param revision the revision of the record
 */
public record PauseRecord(HeldReply held, int parts, AttributeChange attributes, long revision) {

	/** The version of the form of the record; a newer one is refused. */
	private static final int VERSION = 2;

	/**
	 * Creates the write of the record.
	 * @param expected the revision that must be stored; 0 if there must be no record
	 */
	public static RecordWrite write(SessionKey key, String turnId, HeldReply held, int parts,
			AttributeChange attributes, long expected, MessageCodec codec) {
		Map<String, Object> values = new HashMap<>();
		values.put("version", VERSION);
		values.put("parts", parts);
		values.put("reply", codec.encode(key, held.reply()));
		values.put("notes", held.notes());
		values.put("attributes", attributes.written());
		values.put("removed", attributes.removed());
		putQueued(values, key, held.queued(), codec);
		return new RecordWrite(TurnRecords.PAUSE, turnId, expected, codec.encodeValues(key, values), null);
	}

	/**
	 * One message that no hook was asked about is stored alone. The messages of several
	 * calls are kept apart, so that hooks are asked about each.
	 */
	private static void putQueued(Map<String, Object> values, SessionKey key, List<JoiningInput> queued,
			MessageCodec codec) {
		List<String> messages = new ArrayList<>();
		List<Map<String, Object>> checked = new ArrayList<>();
		for (JoiningInput each : queued) {
			Map<String, Object> result = new HashMap<>(each.values());
			result.put("from", messages.size());
			result.put("to", messages.size() + each.messages().size());
			checked.add(result);
			each.messages().forEach((message) -> messages.add(codec.encode(key, message)));
		}
		values.put("queued", messages);
		if (queued.size() > 1 || queued.stream().anyMatch((each) -> !each.isUnchecked())) {
			values.put("checked", checked);
		}
	}

	/**
	 * Returns the queued messages. Those between checked ones were not checked by hooks.
	 */
	private static List<JoiningInput> queued(List<Message> messages, @Nullable Object checked) {
		List<JoiningInput> queued = new ArrayList<>();
		int end = 0;
		for (Object each : (checked instanceof List<?> results) ? results : List.of()) {
			if (each instanceof Map<?, ?> result && result.get("from") instanceof Integer from
					&& result.get("to") instanceof Integer to) {
				addUnchecked(queued, messages.subList(end, from));
				queued.add(JoiningInput.of(messages.subList(from, to), result));
				end = to;
			}
		}
		addUnchecked(queued, messages.subList(end, messages.size()));
		return queued;
	}

	private static void addUnchecked(List<JoiningInput> queued, List<Message> messages) {
		if (!messages.isEmpty()) {
			queued.add(JoiningInput.unchecked(messages));
		}
	}

	public RecordWrite queue(SessionKey key, String turnId, JoiningInput more, MessageCodec codec) {
		List<JoiningInput> queued = new ArrayList<>(this.held.queued());
		queued.add(more);
		return write(key, turnId, new HeldReply(this.held.reply(), this.held.notes(), queued), this.parts,
				this.attributes, this.revision, codec);
	}

	/**
	 * Reads the pause from a record.
	 * @throws UnsupportedVersionException if a newer version wrote the record
	 * @throws UnreadablePayloadException if the record holds no pause
	 */
	@SuppressWarnings("unchecked") // this class has written the values
	public static PauseRecord read(SessionRecord record, MessageCodec codec) {
		SessionKey key = record.key();
		Map<String, @Nullable Object> values = codec.decodeValues(key, record.payload());
		checkVersion(values.get("version"), "The pause of turn '" + record.id() + "' of session " + key);
		if (values.get("reply") instanceof String reply && values.get("parts") instanceof Integer parts
				&& values.get("notes") instanceof Map<?, ?> notes && attributes(values) instanceof Map<?, ?> attributes
				&& values.get("removed") instanceof List<?> removed && values.get("queued") instanceof List<?> queued
				&& codec.decode(key, reply) instanceof AssistantMessage message) {
			List<Message> messages = queued.stream().map((text) -> codec.decode(key, (String) text)).toList();
			return new PauseRecord(
					new HeldReply(message, (Map<String, Object>) notes, queued(messages, values.get("checked"))), parts,
					new AttributeChange((Map<String, Object>) attributes, (List<String>) removed), record.revision());
		}
		throw new UnreadablePayloadException(
				"The pause of turn '" + record.id() + "' of session " + key + " holds no reply.", null);
	}

	/**
	 * Returns the attributes. In version 1 they had another name, and a turn that waits
	 * in that form goes on all the same.
	 */
	private static @Nullable Object attributes(Map<String, @Nullable Object> values) {
		return values.getOrDefault("attributes", values.get("state"));
	}

	/**
	 * Refuses a record that a newer version wrote, or that has no version.
	 * @param version the version in the record
	 * @param what the name of the record, to begin a sentence with
	 */
	private static void checkVersion(@Nullable Object version, String what) {
		if (!(version instanceof Integer number) || number < 1) {
			throw new UnreadablePayloadException(what + " has no version.", null);
		}
		if (number > VERSION) {
			throw new UnsupportedVersionException(
					what + " was written in version " + number + " of its form; this one reads up to " + VERSION
							+ ". Continue it with the version that wrote it.");
		}
	}

}
