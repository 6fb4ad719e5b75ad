package io.sessionkit.observation;

import io.sessionkit.Verdict;

/**
 * A stage of a call on a session. Each of the others is part of {@link #CALL}, and
 * {@link #AFTER_MODEL} is part of a {@link #ROUND}.
 */
public enum CallStage {

	/** The whole call, from before it stands in line until its turn is stored. */
	CALL,

	/** Reading header and view from the store, and a summary that is due before that. */
	OPEN,

	/** The hooks on the input. */
	BEFORE_TURN,

	/** The hooks on one request. */
	BEFORE_MODEL,

	/** The hooks on one reply. */
	AFTER_MODEL,

	/** The hooks on what is to be stored. */
	BEFORE_SAVE,

	/** One model call, and the handling of its reply. */
	ROUND,

	/** Storing the turn or a part of it, as history or beside it. */
	COMMIT;

	/**
	 * Returns the stage of the hooks of a phase.
	 * @param phase the phase
	 * @return the stage with the same name
	 */
	public static CallStage of(Verdict.Phase phase) {
		return switch (phase) {
			case BEFORE_TURN -> BEFORE_TURN;
			case BEFORE_MODEL -> BEFORE_MODEL;
			case AFTER_MODEL -> AFTER_MODEL;
			case BEFORE_SAVE -> BEFORE_SAVE;
		};
	}

	/**
	 * Returns whether hooks run in this stage, and nothing else.
	 * @return true for the four stages that are named like a phase
	 */
	public boolean isHooks() {
		return switch (this) {
			case BEFORE_TURN, BEFORE_MODEL, AFTER_MODEL, BEFORE_SAVE -> true;
			case CALL, OPEN, ROUND, COMMIT -> false;
		};
	}

}
