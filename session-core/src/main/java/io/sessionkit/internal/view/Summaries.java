package io.sessionkit.internal.view;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Summary;
import io.sessionkit.TokenUsage;
import io.sessionkit.ViewTotals;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.codec.UnreadablePayloadException;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;

/**
 * Writes summaries to their records, reads them back, and turns them into messages of a
 * request.
 */
public final class Summaries {

	/** Marks both messages of the pair that a summary is sent as. */
	static final String MARK = "sessionkit.summary";

	/** Orders summaries by age: the one that covers the most is the newest. */
	public static final Comparator<Summary> BY_AGE = Comparator.comparingLong(Summary::turn).thenComparing(Summary::at);

	private static final String QUESTION = "Summarize our conversation so far.";

	private Summaries() {
	}

	public static RecordWrite write(SessionKey key, Summary summary, MessageCodec codec) {
		return RecordWrite.create(SessionStore.SUMMARY, summary.id(), payload(key, summary, codec));
	}

	/**
	 * Returns the writes of summaries without the pinned messages of turns that are about
	 * to be deleted. Summaries that have none stay as they are.
	 * @param before the first turn that stays
	 */
	public static List<RecordWrite> withoutPinned(List<SessionRecord> records, long before, MessageCodec codec) {
		List<RecordWrite> writes = new ArrayList<>();
		for (SessionRecord record : records) {
			Summary summary = read(record, codec);
			Summary without = pinning(summary, (item) -> item.turn() >= before);
			if (without != summary) {
				writes.add(replace(record, without, codec));
			}
		}
		return writes;
	}

	/**
	 * Returns a summary that pins only some of what it has pinned.
	 * @return a copy; the same one if all of it stays
	 */
	public static Summary pinning(Summary summary, Predicate<SessionItem> stays) {
		List<SessionItem> left = summary.pinned().stream().filter(stays).toList();
		return (left.size() == summary.pinned().size()) ? summary : new Summary(summary.id(), summary.turn(),
				summary.since(), summary.covered(), summary.text(), left, summary.origin());
	}

	/**
	 * Returns the write of a summary in place of the one that a record holds.
	 */
	public static RecordWrite replace(SessionRecord record, Summary summary, MessageCodec codec) {
		return RecordWrite.replace(record, payload(record.key(), summary, codec));
	}

	private static String payload(SessionKey key, Summary summary, MessageCodec codec) {
		Map<String, @Nullable Object> values = new HashMap<>();
		values.put("turn", summary.turn());
		values.put("since", summary.since());
		values.put("turns", summary.covered().turns());
		values.put("items", summary.covered().items());
		values.put("tokens", summary.covered().tokens());
		values.put("summary", summary.text());
		if (summary.isReset()) {
			values.put("reset", true);
		}
		if (!summary.pinned().isEmpty()) {
			values.put("pinned", summary.pinned().stream().map((item) -> values(key, item, codec)).toList());
		}
		values.put("model", summary.model());
		values.put("input", summary.usage().input());
		values.put("output", summary.usage().output());
		values.put("cacheRead", summary.usage().cacheRead());
		values.put("cacheWrite", summary.usage().cacheWrite());
		values.put("at", summary.at());
		return codec.encodeValues(key, values);
	}

	/**
	 * Creates the reset that starts the view anew behind the head.
	 * @param session the session as it is
	 * @param pinned what of it stays in the view
	 */
	public static Summary reset(Session session, List<SessionItem> pinned, StoreOptions options) {
		return new Summary(options.turnIds().get(), session.head(), session.summaryTurn(), session.totals(),
				Summary.RESET, pinned, new Summary.Origin(null, TokenUsage.NONE, options.now()));
	}

	/**
	 * Reads the summary that a record holds.
	 * @throws UnreadablePayloadException if it holds none
	 */
	public static Summary read(SessionRecord record, MessageCodec codec) {
		Map<String, @Nullable Object> values = codec.decodeValues(record.key(), record.payload());
		if (values.get("summary") instanceof String summary && (!summary.isBlank() || isReset(values))
				&& values.get("at") instanceof Instant at) {
			return new Summary(record.id(), number(values, "turn"), number(values, "since"),
					new ViewTotals(number(values, "turns"), number(values, "items"), number(values, "tokens")), summary,
					pinned(record.key(), values, codec),
					new Summary.Origin((String) values.get("model"), usage(values), at));
		}
		throw new UnreadablePayloadException(
				"The summary '" + record.id() + "' of session " + record.key() + " holds no text.", null);
	}

	private static boolean isReset(Map<String, @Nullable Object> values) {
		return Boolean.TRUE.equals(values.get("reset")) && Summary.RESET.equals(values.get("summary"));
	}

	private static TokenUsage usage(Map<String, @Nullable Object> values) {
		return new TokenUsage(number(values, "input"), number(values, "output"), number(values, "cacheRead"),
				number(values, "cacheWrite"));
	}

	/**
	 * Returns the header change that makes the view start with the newest of some
	 * summaries.
	 * @param kept the summaries that exist; if there are none, the view starts at the
	 * beginning
	 */
	public static HeaderChange viewFromNewest(List<Summary> kept) {
		return kept.stream()
			.max(BY_AGE)
			.map((summary) -> viewFrom(summary.turn(), summary.id()))
			.orElseGet(() -> viewFrom(0, null));
	}

	/**
	 * Returns the header change that makes the view start after a turn.
	 * @param turn the last turn that the summary covers; 0 for none
	 * @param id the id of the summary; null for none
	 */
	public static HeaderChange viewFrom(long turn, @Nullable String id) {
		return HeaderChange.NONE.summary(turn, (id != null) ? id : "");
	}

	/**
	 * Returns the summary as a question and its answer, because providers want one system
	 * message, and a user message first. A reset is no message.
	 */
	public static List<Message> pair(String summary) {
		if (summary.equals(Summary.RESET)) {
			return List.of();
		}
		Map<String, Object> mark = Map.of(MARK, true);
		return List.of(UserMessage.builder().text(QUESTION).metadata(mark).build(),
				AssistantMessage.builder().content(summary).properties(mark).build());
	}

	private static Map<String, Object> values(SessionKey key, SessionItem item, MessageCodec codec) {
		return Map.of("sequence", item.sequence(), "turn", item.turn(), "at", item.at(), "tokens", item.tokens(),
				"message", codec.encode(key, item.message()));
	}

	private static List<SessionItem> pinned(SessionKey key, Map<String, @Nullable Object> values, MessageCodec codec) {
		return (values.get("pinned") instanceof List<?> pinned)
				? pinned.stream().map((item) -> item(key, (Map<?, ?>) item, codec)).toList() : List.of();
	}

	private static SessionItem item(SessionKey key, Map<?, ?> values, MessageCodec codec) {
		if (values.get("at") instanceof Instant at && values.get("message") instanceof String message) {
			return new SessionItem(number(values, "sequence"), number(values, "turn"), at,
					(int) number(values, "tokens"), codec.decode(key, message));
		}
		throw new UnreadablePayloadException("A summary of session " + key + " holds a pinned item without message.",
				null);
	}

	private static long number(Map<?, ?> values, String name) {
		return (values.get(name) instanceof Number number) ? number.longValue() : 0;
	}

}
