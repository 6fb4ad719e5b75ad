package io.sessionkit.store;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.TurnStatus;
import org.jspecify.annotations.Nullable;

/**
 * One atomic change of a session: either all of it is stored or nothing.
 *
 * @param key the session
 * @param expect the condition on which the commit is accepted
 * @param base the header as it was opened; set if and only if {@code expect} is
 * {@link Expect#UNCHANGED}
 * @param turns the turns to write, oldest first; empty for none. A commit that is
 * repeated is recognized by the last one. Those before it are completed, follow one
 * another and become the head, and their ids must be new in the session
 * @param header new values for the header
 * @param delete sequences of items to delete permanently
 * @param records records to write. If one of them is not as expected, the whole commit is
 * a conflict
 * @param oldest the oldest turns, to delete permanently; null for none. The commit then
 * has nothing else but records
 */
public record Commit(SessionKey key, Expect expect, @Nullable Session base, List<TurnWrite> turns, HeaderChange header,
		Set<Long> delete, List<RecordWrite> records, @Nullable Oldest oldest) {

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
		turns = List.copyOf(turns);
		checkSeveral(turns);
		delete = Set.copyOf(delete);
		checkWrittenOnce(records);
		records = List.copyOf(records);
		checkDoesNothingElse(oldest, turns, header, delete);
	}

	private static void checkDoesNothingElse(@Nullable Oldest oldest, List<TurnWrite> turns, HeaderChange header,
			Set<Long> delete) {
		if (oldest != null && (!turns.isEmpty() || !header.equals(HeaderChange.NONE) || !delete.isEmpty())) {
			throw new IllegalArgumentException("A commit that deletes the oldest turns only writes records besides."
					+ " Make the other changes in a commit of their own.");
		}
	}

	private static void checkSeveral(List<TurnWrite> turns) {
		if (turns.size() < 2) {
			return;
		}
		for (TurnWrite each : turns) {
			if (each.turn().status() != TurnStatus.COMPLETED || each.part() != 0 || each.beside()) {
				throw new IllegalArgumentException("Turn '" + each.turn().id()
						+ "' is written with others, so it must be a whole, completed turn of the history.");
			}
		}
	}

	private static void checkWrittenOnce(List<RecordWrite> records) {
		if (records.size() < 2) {
			return;
		}
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
		return new Commit(base.key(), Expect.UNCHANGED, base, List.of(), HeaderChange.NONE, Set.of(), List.of(), null);
	}

	/**
	 * Returns this change for the session under another key.
	 * @param other the key
	 * @return a copy; this commit if it has that key
	 */
	public Commit under(SessionKey other) {
		return other.equals(this.key) ? this : new Commit(other, this.expect, this.base, this.turns, this.header,
				this.delete, this.records, this.oldest);
	}

	/**
	 * Creates the first write of a session, which is accepted only if the session is
	 * absent.
	 * @param key the session
	 * @return a commit without content
	 */
	public static Commit first(SessionKey key) {
		return new Commit(key, Expect.ABSENT, null, List.of(), HeaderChange.NONE, Set.of(), List.of(), null);
	}

	/**
	 * Creates a change that is accepted whatever the state of the session is by then.
	 * @param key the session
	 * @return a commit without content
	 */
	public static Commit any(SessionKey key) {
		return new Commit(key, Expect.ANY, null, List.of(), HeaderChange.NONE, Set.of(), List.of(), null);
	}

	/**
	 * Returns the turn by which a repeated commit is recognized: the last one.
	 * @return the turn; null if the commit writes none
	 */
	public @Nullable TurnWrite turn() {
		return this.turns.isEmpty() ? null : this.turns.get(this.turns.size() - 1);
	}

	/**
	 * Returns the turns that are written before {@link #turn()}, with it or not at all.
	 * @return the turns, oldest first; nearly always none
	 */
	public List<TurnWrite> earlier() {
		return (this.turns.size() < 2) ? List.of() : this.turns.subList(0, this.turns.size() - 1);
	}

	/**
	 * Returns a copy of this commit with the given turn, and no other.
	 * @param turn the turn
	 * @return the copy
	 */
	public Commit turn(TurnWrite turn) {
		return new Commit(this.key, this.expect, this.base, List.of(turn), this.header, this.delete, this.records,
				this.oldest);
	}

	/**
	 * Returns a copy of this commit with several completed turns, each of which follows
	 * the one before.
	 * @param turns the turns, oldest first; one or more
	 * @return the copy
	 */
	public Commit turns(List<TurnWrite> turns) {
		if (turns.isEmpty()) {
			throw new IllegalArgumentException("A commit of turns needs at least one.");
		}
		return new Commit(this.key, this.expect, this.base, turns, this.header, this.delete, this.records, this.oldest);
	}

	/**
	 * Returns a copy of this commit with new values for the header.
	 * @param header the values
	 * @return the copy
	 */
	public Commit header(HeaderChange header) {
		return new Commit(this.key, this.expect, this.base, this.turns, header, this.delete, this.records, this.oldest);
	}

	/**
	 * Returns a copy of this commit with items to delete.
	 * @param sequences the sequences of the items
	 * @return the copy
	 */
	public Commit delete(Set<Long> sequences) {
		return new Commit(this.key, this.expect, this.base, this.turns, this.header, sequences, this.records,
				this.oldest);
	}

	/**
	 * Returns a copy of this commit with records to write.
	 * @param records the records to write
	 * @return the copy
	 */
	public Commit records(List<RecordWrite> records) {
		return new Commit(this.key, this.expect, this.base, this.turns, this.header, this.delete, records, this.oldest);
	}

	/**
	 * Returns a copy of this commit that deletes the oldest turns, whatever their status
	 * and branch. Turns that follow them keep their numbers and begin the history.
	 * Summaries that cover deleted turns stay in force; new ones cover turns that stay.
	 * @param oldest the turns
	 * @return the copy
	 */
	public Commit oldest(Oldest oldest) {
		return new Commit(this.key, this.expect, this.base, this.turns, this.header, this.delete, this.records, oldest);
	}

	/**
	 * Returns whether this commit only appends one whole turn. Nearly every commit does,
	 * so a store should store such a commit in one round trip.
	 * @return true if the commit has the first part of one turn of the history and
	 * neither a move, a deletion, a summary nor a record
	 */
	public boolean isPlainTurn() {
		return this.turns.size() == 1 && isPlain(this.turns.get(0)) && this.header.head() == null
				&& this.header.summary() == null && this.delete.isEmpty() && this.records.isEmpty();
	}

	private static boolean isPlain(TurnWrite turn) {
		return turn.part() == 0 && !turn.beside() && turn.turn().number() == 0 && turn.attributes() == null;
	}

}
