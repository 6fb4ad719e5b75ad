package io.sessionkit.store;

import io.sessionkit.SessionException;

/**
 * Thrown if what is asked of a session cannot be had as the session is: the turn or the
 * branch is not there, a name is taken, or a turn has to stay what it is. The same was
 * possible before, or will be later, so a user or a race can cause it.
 */
public final class ChangeRefusedException extends SessionException {

	/**
	 * The reasons why it cannot be had.
	 */
	public enum Reason {

		/** There is no such turn. */
		UNKNOWN_TURN,

		/**
		 * The turn is not on the active branch, does not follow a turn of it, or was not
		 * left on it. There may be no such turn.
		 */
		NOT_ON_BRANCH,

		/** The turn, or the one that it follows, is not completed. */
		NOT_COMPLETED,

		/** The messages of the turn were deleted. */
		DELETED,

		/**
		 * The turn has no question that could be asked again, or it is not known which of
		 * its messages that is.
		 */
		NO_QUESTION,

		/** The turn has no answer, so it cannot become history. */
		NO_ANSWER,

		/** The turn is history already, itself or as a copy. */
		IN_HISTORY,

		/** There is no branch of this name. */
		UNKNOWN_BRANCH,

		/** There is a branch of this name. */
		BRANCH_EXISTS,

		/** The branch is the active one. */
		BRANCH_ACTIVE,

		/** The session that was to be made exists already. */
		SESSION_EXISTS,

		/** The session has turns already. */
		NOT_EMPTY,

		/** The rewind of a turn has not ended, so it stays in the history as it is. */
		REWIND_UNFINISHED,

		/** Effects of a turn were taken back, so it cannot become history again. */
		EFFECTS_TAKEN_BACK;

		/**
		 * Returns whether what was named is not there.
		 * @return true for a turn or a branch that is unknown
		 */
		public boolean isUnknown() {
			return this == UNKNOWN_TURN || this == UNKNOWN_BRANCH;
		}

	}

	private final Reason reason;

	/**
	 * Creates the exception.
	 * @param message a description of why it cannot be had and what to do
	 * @param reason the reason
	 */
	public ChangeRefusedException(String message, Reason reason) {
		super(message, null);
		this.reason = reason;
	}

	@Override
	public String code() {
		return "change-refused";
	}

	/**
	 * Returns why it cannot be had.
	 * @return the reason
	 */
	public Reason reason() {
		return this.reason;
	}

}
