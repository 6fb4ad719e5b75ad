package io.sessionkit.internal.line;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.internal.attribute.JoiningInput;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * The records of what waiting calls offer: one for each call, under the id of its ticket.
 * It holds the messages, and once a turn with them is stored, that turn. Whether they
 * were taken is said by the line, so that a call cannot take its messages back at the
 * same time. Safe for use by many threads.
 */
final class Offers {

	/** The kind of the records. */
	static final String KIND = Lines.OFFER;

	/**
	 * The time for which the turn is remembered for a call that waits. Such a call looks
	 * several times a second, unless it is suspended.
	 */
	private static final Duration ANSWER_LIVES = Duration.ofHours(1);

	private static final int VERSION = 1;

	/** More records than this are read together. */
	private static final int FEW = 3;

	private final SessionStore store;

	Offers(SessionStore store) {
		this.store = store;
	}

	/**
	 * Creates the write of an offer that is not stored yet.
	 * @throws io.sessionkit.codec.UnstorableMessageException if a message cannot be
	 * stored
	 */
	RecordWrite write(SessionKey key, Offered offered, Duration lives) {
		MessageCodec codec = this.store.options().codec();
		Map<String, Object> values = new HashMap<>();
		values.put("version", VERSION);
		values.put("messages", offered.offer().messages().stream().map((each) -> codec.encode(key, each)).toList());
		if (!offered.offer().input().isUnchecked()) {
			values.put("checked", offered.offer().input().values());
		}
		values.put("expected", offered.offer().expectedTurn());
		if (offered.offer().agent() != null) {
			values.put("agent", offered.offer().agent());
		}
		Request request = offered.request();
		if (request != null) {
			values.put("request", request.id());
			values.put("content", request.content());
			values.put("remembered", request.timeToLive().toMillis());
		}
		return new RecordWrite(KIND, offered.id(), 0, codec.encodeValues(key, values), lives);
	}

	/** Returns whether a write has been made, and none after it. */
	boolean has(SessionKey key, RecordWrite write) {
		return this.store.record(key, KIND, write.id())
			.filter((record) -> record.revision() == write.next())
			.isPresent();
	}

	/** Creates the write that tells the call which turn has its messages. */
	RecordWrite answer(SessionKey key, String id, Answer turn) {
		Map<String, Object> values = Map.of("version", VERSION, "turn", turn.turn(), "from", turn.from());
		return new RecordWrite(KIND, id, RecordWrite.ANY, this.store.options().codec().encodeValues(key, values),
				ANSWER_LIVES);
	}

	/** Returns the turn that has the messages of a call; null if none is stored. */
	@Nullable Answer answer(SessionKey key, String id) {
		SessionRecord record = this.store.record(key, KIND, id).orElse(null);
		if (record == null) {
			return null;
		}
		Map<String, @Nullable Object> values = values(record);
		return (values.get("turn") instanceof String turn && values.get("from") instanceof Number from)
				? new Answer(turn, from.longValue()) : null;
	}

	/**
	 * Returns the offers of some calls, in their order. Those that have expired or are
	 * answered are left out.
	 */
	List<Offered> read(SessionKey key, List<String> ids) {
		List<SessionRecord> records = (ids.size() > FEW) ? this.store.records(key, KIND)
				: ids.stream().flatMap((id) -> this.store.record(key, KIND, id).stream()).toList();
		List<Offered> offered = new ArrayList<>();
		for (String id : ids) {
			records.stream()
				.filter((record) -> record.id().equals(id))
				.findFirst()
				.flatMap(this::offered)
				.ifPresent(offered::add);
		}
		return offered;
	}

	private Optional<Offered> offered(SessionRecord record) {
		Map<String, @Nullable Object> values = values(record);
		if (!(values.get("version") instanceof Integer version) || version != VERSION
				|| !(values.get("messages") instanceof List<?> texts)
				|| !(values.get("expected") instanceof Number expected)) {
			return Optional.empty();
		}
		MessageCodec codec = this.store.options().codec();
		List<Message> messages = texts.stream().map((text) -> codec.decode(record.key(), (String) text)).toList();
		Offer offer = new Offer(JoiningInput.of(messages, values.get("checked")),
				Objects.toString(values.get("agent"), null), expected.longValue());
		return Optional.of(new Offered(record.id(), offer, request(values)));
	}

	private static @Nullable Request request(Map<String, @Nullable Object> values) {
		return (values.get("request") instanceof String id && values.get("content") instanceof String content
				&& values.get("remembered") instanceof Number millis)
						? new Request(id, content, Duration.ofMillis(millis.longValue())) : null;
	}

	private Map<String, @Nullable Object> values(SessionRecord record) {
		return this.store.options().codec().decodeValues(record.key(), record.payload());
	}

}
