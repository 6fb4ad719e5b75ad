package io.sessionkit.store;

/**
 * What became of a commit.
 *
 * @param outcome committed, repeated or refused
 * @param version the version of the session now, as far as the store saw it; 0 if it is
 * absent
 * @param turn the number of the turn that was written, now or before; 0 for none
 * @param firstItem the sequence of the first item that this commit wrote; 0 for none. The
 * others follow without a gap
 */
public record CommitResult(Outcome outcome, long version, long turn, long firstItem) {

	/**
	 * The three ways a commit can end without an exception.
	 */
	public enum Outcome {

		/** The change is stored. */
		COMMITTED,

		/** This part of this turn was stored before: nothing was changed. */
		REPEATED,

		/** The session is not as expected: nothing was changed. */
		CONFLICT

	}

	/**
	 * Whether the change is stored, now or before.
	 * @return false for a conflict
	 */
	public boolean isStored() {
		return this.outcome != Outcome.CONFLICT;
	}

}
