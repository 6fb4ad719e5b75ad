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
 */
public record ForkedFrom(SessionKey key, long turn) {

	/** The kind of the record, of which a session has one at most. */
	public static final String KIND = "fork";

	private static final String ID = "parent";

	public RecordWrite write(SessionKey to, MessageCodec codec) {
		Map<String, Object> values = new HashMap<>();
		values.put("owner", this.key.owner());
		values.put("id", this.key.id());
		values.put("turn", this.turn);
		return RecordWrite.create(KIND, ID, codec.encodeValues(to, values));
	}

	public static Optional<ForkedFrom> read(List<SessionRecord> records, MessageCodec codec) {
		return records.stream().findFirst().flatMap((record) -> {
			Map<String, @Nullable Object> values = codec.decodeValues(record.key(), record.payload());
			return (values.get("owner") instanceof String owner && values.get("id") instanceof String id
					&& values.get("turn") instanceof Long turn)
							? Optional.of(new ForkedFrom(SessionKey.of(owner, id), turn)) : Optional.empty();
		});
	}

}
