package io.sessionkit.internal.tree;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.codec.UnreadablePayloadException;
import io.sessionkit.internal.Sha256;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import org.jspecify.annotations.Nullable;

/**
 * Turns that the head has left: those behind the place where the way to them parts from
 * the way to the head. It is written in the same commit as the move, so that nothing that
 * was said is out of reach.
 *
 * @param tip the last of these turns
 * @param branch the branch on which they were left
 * @param fork the turn after which the ways part; 0 for the beginning
 * @param first the first of these turns, which follows the fork
 * @param at the version of the session that the move was based on: of two moves the later
 * one has the greater
 */
public record LeftTurns(long tip, String branch, long fork, long first, long at) {

	/**
	 * The kind of the records. Their id is the number of the tip, followed by a digest of
	 * the branch if it is not the first one: several branches may leave the same turn.
	 */
	public static final String KIND = "left";

	private static final String SEPARATOR = "-";

	/** The length of the digest of a branch. */
	private static final int DIGEST = 16;

	/** Creates the write that remembers these turns. */
	public RecordWrite write(SessionKey key, MessageCodec codec) {
		Map<String, Object> values = new HashMap<>();
		values.put("branch", this.branch);
		values.put("fork", this.fork);
		values.put("first", this.first);
		values.put("at", this.at);
		return RecordWrite.put(KIND, id(), codec.encodeValues(key, values));
	}

	/**
	 * Creates the write that forgets these turns: the head has come back to their tip.
	 */
	public RecordWrite delete() {
		return new RecordWrite(KIND, id(), RecordWrite.ANY, null, null);
	}

	private String id() {
		return this.branch.equals(Session.MAIN) ? Long.toString(this.tip)
				: this.tip + SEPARATOR + Sha256.of(this.branch).substring(0, DIGEST);
	}

	/**
	 * Returns these turns without the first ones, which the head has come back to.
	 * @param head the last of those
	 * @param next the one behind it
	 */
	public LeftTurns from(long head, long next) {
		return new LeftTurns(this.tip, this.branch, head, next, this.at);
	}

	public static List<LeftTurns> read(List<SessionRecord> records, MessageCodec codec) {
		return records.stream().map((record) -> read(record, codec)).toList();
	}

	private static LeftTurns read(SessionRecord record, MessageCodec codec) {
		Map<String, @Nullable Object> values = codec.decodeValues(record.key(), record.payload());
		if (values.get("branch") instanceof String branch && values.get("fork") instanceof Long fork
				&& values.get("first") instanceof Long first && values.get("at") instanceof Long at) {
			return new LeftTurns(Long.parseLong(record.id().split(SEPARATOR)[0]), branch, fork, first, at);
		}
		throw new UnreadablePayloadException("The record '" + record.id() + "' of turns that were left in session "
				+ record.key() + " says not where.", null);
	}

}
