package io.sessionkit.internal.tree;

import java.time.Instant;
import java.util.HashMap;
import java.util.Map;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.codec.UnreadablePayloadException;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import org.jspecify.annotations.Nullable;

/**
 * A branch as its record has it. The record is written when the branch is made, when
 * another one becomes the active one, and by calls that name the branch; the head of the
 * active branch is that of the session.
 * <p>
 * A branch cannot be renamed: its turns, and the records of what was left on it, have its
 * name, and are never rewritten.
 *
 * @param name its name
 * @param head its last turn; 0 for none
 * @param from the turn on which it was begun; 0 for the beginning
 * @param createdAt when it was made
 * @param revision the revision of the record; 0 if there is none
 */
public record BranchRecord(String name, long head, long from, Instant createdAt, long revision) {

	/** The kind of the records. Their id is the name of the branch. */
	public static final String KIND = "branch";

	/** Returns this branch with another head. */
	public BranchRecord head(long turn) {
		return new BranchRecord(this.name, turn, this.from, this.createdAt, this.revision);
	}

	/** Creates the write of the record, whether or not it exists. */
	public RecordWrite write(SessionKey key, MessageCodec codec) {
		return RecordWrite.put(KIND, this.name, payload(key, codec));
	}

	/** Creates the write of the record, provided that nobody has written it since. */
	public RecordWrite replace(SessionKey key, MessageCodec codec) {
		return new RecordWrite(KIND, this.name, this.revision, payload(key, codec), null);
	}

	public RecordWrite delete() {
		return new RecordWrite(KIND, this.name, RecordWrite.ANY, null, null);
	}

	private String payload(SessionKey key, MessageCodec codec) {
		Map<String, Object> values = new HashMap<>();
		values.put("head", this.head);
		values.put("from", this.from);
		values.put("created", this.createdAt);
		return codec.encodeValues(key, values);
	}

	public static BranchRecord read(SessionRecord record, MessageCodec codec) {
		Map<String, @Nullable Object> values = codec.decodeValues(record.key(), record.payload());
		if (values.get("head") instanceof Long head && values.get("from") instanceof Long from
				&& values.get("created") instanceof Instant createdAt) {
			return new BranchRecord(record.id(), head, from, createdAt, record.revision());
		}
		throw new UnreadablePayloadException(
				"The record of branch '" + record.id() + "' of session " + record.key() + " has no head.", null);
	}

}
