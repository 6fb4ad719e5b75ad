package io.sessionkit.internal.tree;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import org.jspecify.annotations.Nullable;

/**
 * The place at which a session was forked from another one.
 *
 * @param key the other session, which may be gone by now
 * @param turn the last turn of it that was copied, by its number there
 * @param copies the number of turns that were copied; they are the first ones here
 */
public record ForkedFrom(SessionKey key, long turn, long copies) {

	/** The kind of the record, of which a session has one at most. */
	public static final String KIND = "fork";

	private static final String ID = "parent";

	public RecordWrite write(SessionKey to, MessageCodec codec) {
		Map<String, Object> values = new HashMap<>();
		values.put("owner", this.key.owner());
		values.put("id", this.key.id());
		values.put("turn", this.turn);
		values.put("copies", this.copies);
		return RecordWrite.create(KIND, ID, codec.encodeValues(to, values));
	}

	public static Optional<ForkedFrom> read(List<SessionRecord> records, MessageCodec codec) {
		return records.stream().findFirst().flatMap((record) -> {
			Map<String, @Nullable Object> values = codec.decodeValues(record.key(), record.payload());
			return (values.get("owner") instanceof String owner && values.get("id") instanceof String id
					&& values.get("turn") instanceof Long turn)
							? Optional.of(new ForkedFrom(SessionKey.of(owner, id), turn, copies(values)))
							: Optional.empty();
		});
	}

	/** Any turn may be a copy if their number was not kept. */
	private static long copies(Map<String, @Nullable Object> values) {
		return (values.get("copies") instanceof Long copies) ? copies : Long.MAX_VALUE;
	}

}
