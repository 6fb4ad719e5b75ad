package io.sessionkit.internal.retention;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.ViewTotals;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.internal.snapshot.KeptTexts;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import org.jspecify.annotations.Nullable;

/**
 * The effect of the newest deletion of the oldest turns of a session. A turn that was
 * opened before it and ends after it finds here that nothing else has changed.
 *
 * @param first the first turn that stayed
 * @param head the head at that time
 * @param before the size of the view before
 * @param after the size of the view afterwards
 */
public record RetentionRecord(long first, long head, ViewTotals before, ViewTotals after) {

	public static final String KIND = KeptTexts.RETENTION;

	private static final String ID = "oldest";

	static final RetentionRecord NONE = new RetentionRecord(1, 0, ViewTotals.NONE, ViewTotals.NONE);

	public static RetentionRecord read(List<SessionRecord> records, MessageCodec codec) {
		if (records.isEmpty()) {
			return NONE;
		}
		SessionRecord record = records.get(0);
		Map<String, @Nullable Object> values = codec.decodeValues(record.key(), record.payload());
		return new RetentionRecord(number(values, "first"), number(values, "head"), totals(values, "before"),
				totals(values, "after"));
	}

	private static ViewTotals totals(Map<String, @Nullable Object> values, String name) {
		return new ViewTotals(number(values, name + "Turns"), number(values, name + "Items"),
				number(values, name + "Tokens"));
	}

	private static long number(Map<String, @Nullable Object> values, String name) {
		return (values.get(name) instanceof Number number) ? number.longValue() : 0;
	}

	public RecordWrite write(SessionKey key, MessageCodec codec) {
		Map<String, @Nullable Object> values = new HashMap<>();
		values.put("first", this.first);
		values.put("head", this.head);
		put(values, "before", this.before);
		put(values, "after", this.after);
		return RecordWrite.put(KIND, ID, codec.encodeValues(key, values));
	}

	private static void put(Map<String, @Nullable Object> values, String name, ViewTotals totals) {
		values.put(name + "Turns", totals.turns());
		values.put(name + "Items", totals.items());
		values.put(name + "Tokens", totals.tokens());
	}

	/**
	 * Returns whether this deletion alone has made one session of the other.
	 */
	public boolean isAllBetween(Session opened, Session now) {
		return opened.head() == this.head && now.head() == this.head && opened.totals().equals(this.before)
				&& now.totals().equals(this.after);
	}

}
