package io.sessionkit.store;

/**
 * The result of a commit.
 *
 * @param outcome committed, repeated or refused
 * @param version the current version of the session, as far as the store saw it; 0 if the
 * session is absent
 * @param turn the number of the turn that was written, now or before; 0 for none
 * @param firstItem the sequence of the first item that this commit wrote; 0 for none. The
 * other items follow without a gap
 */
public record CommitResult(Outcome outcome, long version, long turn, long firstItem) {

	/**
	 * The three ways in which a commit can end without an exception.
	 */
	public enum Outcome {

		/** The change is stored. */
		COMMITTED,

		/** This part of this turn was stored before; nothing was changed. */
		REPEATED,

		/** The session is not as expected; nothing was changed. */
		CONFLICT

	}

	/**
	 * Returns whether the change is stored, now or before.
	 * @return false for a conflict
	 */
	public boolean isStored() {
		return this.outcome != Outcome.CONFLICT;
	}

}
