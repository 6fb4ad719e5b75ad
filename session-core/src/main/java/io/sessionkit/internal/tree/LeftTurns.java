package io.sessionkit.internal.tree;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

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
 * @param first the first of these turns, which follows the fork; 0 if there is none, but
 * a reset that was taken back at the fork
 * @param at the version of the session that the move was based on: of two moves the later
 * one has the greater
 * @param resets the resets that were taken back on the way to the tip
 */
public record LeftTurns(long tip, String branch, long fork, long first, long at, List<Reset> resets) {

	/**
	 * The kind of the records. Their id is the number of the tip, followed by a digest of
	 * the branch if it is not the first one: several branches may leave the same turn.
	 */
	public static final String KIND = "left";

	private static final String SEPARATOR = "-";

	/** The length of the digest of a branch. */
	private static final int DIGEST = 16;

	public LeftTurns {
		resets = List.copyOf(resets);
	}

	public LeftTurns(long tip, String branch, long fork, long first, long at) {
		this(tip, branch, fork, first, at, List.of());
	}

	/**
	 * A reset that was taken back. What it kept in the view is not part of this, so that
	 * nothing that was said outlives its deletion here.
	 *
	 * @param turn the turn behind which it was made
	 * @param bare whether it kept no seed in the view
	 */
	public record Reset(long turn, boolean bare) {

		private Map<String, Object> values() {
			return Map.of("turn", this.turn, "bare", this.bare);
		}

	}

	/** Returns whether turns were left, and not only a reset was taken back. */
	public boolean hasTurns() {
		return this.first > 0;
	}

	/** Creates the write that remembers these turns. */
	public RecordWrite write(SessionKey key, MessageCodec codec) {
		Map<String, Object> values = new HashMap<>();
		values.put("branch", this.branch);
		values.put("fork", this.fork);
		values.put("first", this.first);
		values.put("at", this.at);
		if (!this.resets.isEmpty()) {
			values.put("resets", this.resets.stream().map(Reset::values).toList());
		}
		return RecordWrite.put(KIND, id(), codec.encodeValues(key, values));
	}

	/**
	 * Creates the write that remembers these turns if there is anything left of them.
	 */
	public RecordWrite writeRest(SessionKey key, MessageCodec codec) {
		return (hasTurns() || !this.resets.isEmpty()) ? write(key, codec) : delete();
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
	 * Returns these turns without the first ones, to which the head has come back.
	 * @param head the last of those
	 * @param next the one behind it; 0 if there is none
	 */
	public LeftTurns from(long head, long next) {
		return new LeftTurns(this.tip, this.branch, head, next, this.at, this.resets);
	}

	/** Returns these turns with a reset that was taken back. */
	public LeftTurns with(Reset reset) {
		List<Reset> all = new ArrayList<>(without((each) -> each.turn() == reset.turn()).resets());
		all.add(reset);
		return new LeftTurns(this.tip, this.branch, this.fork, this.first, this.at, all);
	}

	/** Returns these turns without some of the resets that were taken back. */
	public LeftTurns without(Predicate<Reset> gone) {
		return new LeftTurns(this.tip, this.branch, this.fork, this.first, this.at,
				this.resets.stream().filter(gone.negate()).toList());
	}

	public static List<LeftTurns> read(List<SessionRecord> records, MessageCodec codec) {
		return records.stream().map((record) -> read(record, codec)).toList();
	}

	private static LeftTurns read(SessionRecord record, MessageCodec codec) {
		Map<String, @Nullable Object> values = codec.decodeValues(record.key(), record.payload());
		if (values.get("branch") instanceof String branch && values.get("fork") instanceof Long fork
				&& values.get("first") instanceof Long first && values.get("at") instanceof Long at) {
			return new LeftTurns(Long.parseLong(record.id().split(SEPARATOR)[0]), branch, fork, first, at,
					resets(values));
		}
		throw new UnreadablePayloadException("The record '" + record.id() + "' of turns that were left in session "
				+ record.key() + " says not where.", null);
	}

	private static List<Reset> resets(Map<String, @Nullable Object> values) {
		return (values.get("resets") instanceof List<?> resets)
				? resets.stream().map((reset) -> reset((Map<?, ?>) reset)).toList() : List.of();
	}

	private static Reset reset(Map<?, ?> values) {
		return new Reset((values.get("turn") instanceof Long turn) ? turn : 0, Boolean.TRUE.equals(values.get("bare")));
	}

}
