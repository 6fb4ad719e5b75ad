package io.sessionkit.store;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import org.jspecify.annotations.Nullable;

/**
 * One atomic change of a session: either all of it is stored or nothing.
 *
 * @param key the session
 * @param expect the condition on which the commit is accepted
 * @param base the header as it was opened; set if and only if {@code expect} is
 * {@link Expect#UNCHANGED}
 * @param turn the turn to write; null for none
 * @param header new values for the header
 * @param delete sequences of items to delete permanently
 * @param records records to write. If one of them is not as expected, the whole commit is
 * a conflict
 */
public record Commit(SessionKey key, Expect expect, @Nullable Session base, @Nullable TurnWrite turn,
		HeaderChange header, Set<Long> delete, List<RecordWrite> records) {

	/**
	 * The condition that the session must meet for the commit to be accepted.
	 */
	public enum Expect {

		/** There is no session under the key, or it has expired. */
		ABSENT,

		/**
		 * The session is the one that was opened, by its {@link Session#incarnation()},
		 * and it still has the version that was opened.
		 */
		UNCHANGED,

		/**
		 * The session may be in any state. If it is absent it is created, unless the
		 * commit has no turn.
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
	 * Creates a change that is accepted only if the session is still as it was opened.
	 * @param base the header as it was opened
	 * @return a commit without content
	 */
	public static Commit on(Session base) {
		return new Commit(base.key(), Expect.UNCHANGED, base, null, HeaderChange.NONE, Set.of(), List.of());
	}

	/**
	 * Creates the first write of a session, which is accepted only if the session is
	 * absent.
	 * @param key the session
	 * @return a commit without content
	 */
	public static Commit first(SessionKey key) {
		return new Commit(key, Expect.ABSENT, null, null, HeaderChange.NONE, Set.of(), List.of());
	}

	/**
	 * Creates a change that is accepted whatever the state of the session is by then.
	 * @param key the session
	 * @return a commit without content
	 */
	public static Commit any(SessionKey key) {
		return new Commit(key, Expect.ANY, null, null, HeaderChange.NONE, Set.of(), List.of());
	}

	/**
	 * Returns a copy of this commit with the given turn.
	 * @param turn the turn
	 * @return the copy
	 */
	public Commit turn(TurnWrite turn) {
		return new Commit(this.key, this.expect, this.base, turn, this.header, this.delete, this.records);
	}

	/**
	 * Returns a copy of this commit with new values for the header.
	 * @param header the values
	 * @return the copy
	 */
	public Commit header(HeaderChange header) {
		return new Commit(this.key, this.expect, this.base, this.turn, header, this.delete, this.records);
	}

	/**
	 * Returns a copy of this commit with items to delete.
	 * @param sequences the sequences of the items
	 * @return the copy
	 */
	public Commit delete(Set<Long> sequences) {
		return new Commit(this.key, this.expect, this.base, this.turn, this.header, sequences, this.records);
	}

	/**
	 * Returns a copy of this commit with records to write.
	 * @param records the records to write
	 * @return the copy
	 */
	public Commit records(List<RecordWrite> records) {
		return new Commit(this.key, this.expect, this.base, this.turn, this.header, this.delete, records);
	}

	/**
	 * Returns whether this commit only appends one whole turn. Nearly every commit does,
	 * so a store should store such a commit in one round trip.
	 * @return true if the commit has the first part of a turn and neither a move, a
	 * deletion, a summary nor a record
	 */
	public boolean isPlainTurn() {
		return this.turn != null && this.turn.part() == 0 && this.header.head() == null && this.header.summary() == null
				&& this.delete.isEmpty() && this.records.isEmpty();
	}

}
