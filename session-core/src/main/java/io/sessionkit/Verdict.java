package io.sessionkit;

import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * A decision or note of a hook on a turn. A hook that leaves things as they are without a
 * note gives no verdict. A decision that a hook repeats in each round of the turn is one
 * verdict.
 *
 * @param hook the name of the hook
 * @param phase the phase of the turn in which the hook ran
 * @param kind the kind of the decision
 * @param reason the reason of a refusal or the text of a note, in the words of the author
 * of the hook; for a failure the class name of what the hook threw, the text of a
 * {@link NestedTurnException}, or a description of what was wrong with what it returned;
 * null otherwise
 */
public record Verdict(String hook, Phase phase, Kind kind, @Nullable String reason) {

	public Verdict {
		Objects.requireNonNull(hook, "hook must not be null");
		Objects.requireNonNull(phase, "phase must not be null");
		Objects.requireNonNull(kind, "kind must not be null");
	}

	/**
	 * The points of a turn at which a hook runs.
	 */
	public enum Phase {

		/**
		 * Before the turn, on the input of the user, and on messages that join the turn.
		 */
		BEFORE_TURN,

		/** Before each model call, on the request. */
		BEFORE_MODEL,

		/** After each model call, on the reply. */
		AFTER_MODEL,

		/** For each part of the turn, on its messages that are to be stored. */
		BEFORE_SAVE

	}

	/**
	 * The kinds of decisions of a hook.
	 */
	public enum Kind {

		/** The hook left things as they are and added a note. */
		PASSED,

		/** The hook replaced what it was given. */
		REPLACED,

		/** The hook answered, so the model was not called. */
		ANSWERED,

		/** The hook refused. */
		REFUSED,

		/** The hook threw, or returned something that its phase does not allow. */
		FAILED

	}

}
