package io.sessionkit.store;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import org.jspecify.annotations.Nullable;

/**
 * One atomic change of a session: all of it or nothing.
 *
 * @param key the session
 * @param expect what the session must be like
 * @param base the header as it was opened; set exactly where {@code expect} is
 * {@link Expect#UNCHANGED}
 * @param turn the turn to write; null for none
 * @param header new values for the header
 * @param delete sequences of items to delete for good
 * @param records records to write. One that is not as expected makes the whole commit a
 * conflict
 */
public record Commit(SessionKey key, Expect expect, @Nullable Session base, @Nullable TurnWrite turn,
		HeaderChange header, Set<Long> delete, List<RecordWrite> records) {

	/**
	 * What the session must be like for the commit to be accepted.
	 */
	public enum Expect {

		/** There is none under the key, or it has expired. */
		ABSENT,

		/**
		 * It is the one that was opened, by its {@link Session#incarnation()}, in the
		 * version that was opened.
		 */
		UNCHANGED,

		/**
		 * As it is now. It is created where it is absent, unless the commit has no turn.
		 */
		ANY

	}

	public Commit {
		if ((base != null) != (expect == Expect.UNCHANGED)) {
			throw new IllegalArgumentException(
					"A commit needs the opened header exactly when it expects UNCHANGED; it expects " + expect + ".");
		}
		delete = Set.copyOf(delete);
		checkWrittenOnce(records);
		records = List.copyOf(records);
	}

	private static void checkWrittenOnce(List<RecordWrite> records) {
		Set<List<String>> names = new HashSet<>();
		for (RecordWrite record : records) {
			if (!names.add(List.of(record.kind(), record.id()))) {
				throw new IllegalArgumentException("A commit writes a record once; record '" + record.id()
						+ "' of kind '" + record.kind() + "' is written twice.");
			}
		}
	}

	/**
	 * A change of the session as it was opened.
	 * @param base the header as it was opened
	 * @return a commit without content
	 */
	public static Commit on(Session base) {
		return new Commit(base.key(), Expect.UNCHANGED, base, null, HeaderChange.NONE, Set.of(), List.of());
	}

	/**
	 * The first write of a session.
	 * @param key the session
	 * @return a commit without content
	 */
	public static Commit first(SessionKey key) {
		return new Commit(key, Expect.ABSENT, null, null, HeaderChange.NONE, Set.of(), List.of());
	}

	/**
	 * A change of the session, whatever it is like by then.
	 * @param key the session
	 * @return a commit without content
	 */
	public static Commit any(SessionKey key) {
		return new Commit(key, Expect.ANY, null, null, HeaderChange.NONE, Set.of(), List.of());
	}

	/**
	 * This commit with a turn.
	 * @param turn the turn
	 * @return a copy with it
	 */
	public Commit turn(TurnWrite turn) {
		return new Commit(this.key, this.expect, this.base, turn, this.header, this.delete, this.records);
	}

	/**
	 * This commit with new values for the header.
	 * @param header the values
	 * @return a copy with them
	 */
	public Commit header(HeaderChange header) {
		return new Commit(this.key, this.expect, this.base, this.turn, header, this.delete, this.records);
	}

	/**
	 * This commit with items to delete.
	 * @param sequences their sequences
	 * @return a copy with them
	 */
	public Commit delete(Set<Long> sequences) {
		return new Commit(this.key, this.expect, this.base, this.turn, this.header, sequences, this.records);
	}

	/**
	 * This commit with records.
	 * @param records the records to write
	 * @return a copy with them
	 */
	public Commit records(List<RecordWrite> records) {
		return new Commit(this.key, this.expect, this.base, this.turn, this.header, this.delete, records);
	}

	/**
	 * Whether it only appends one whole turn: what nearly every commit is, and what a
	 * store should do in one round trip.
	 * @return true if there is a turn's first part and neither a move, a deletion, a
	 * checkpoint nor a record
	 */
	public boolean isPlainTurn() {
		return this.turn != null && this.turn.part() == 0 && this.header.head() == null
				&& this.header.checkpoint() == null && this.delete.isEmpty() && this.records.isEmpty();
	}

}
