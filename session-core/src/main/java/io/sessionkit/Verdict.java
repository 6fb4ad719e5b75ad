package io.sessionkit;

import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * What a hook decided on a turn, other than to leave things as they are without a word. A
 * decision that a hook repeats in each round of the turn is one verdict.
 *
 * @param hook the name of the hook
 * @param phase where in the turn it was asked
 * @param outcome what it decided
 * @param reason why it refused or what it noted, in the words of its author; how it
 * failed: the class name of what it threw, or what was wrong with what it returned; null
 * otherwise
 */
public record Verdict(String hook, Phase phase, Outcome outcome, @Nullable String reason) {

	public Verdict {
		Objects.requireNonNull(hook, "hook must not be null");
		Objects.requireNonNull(phase, "phase must not be null");
		Objects.requireNonNull(outcome, "outcome must not be null");
	}

	/**
	 * Where in a turn a hook is asked.
	 */
	public enum Phase {

		/** Once, on what the user says. */
		BEFORE_TURN,

		/** Before each model call, on the request. */
		BEFORE_MODEL,

		/** After each model call, on the reply. */
		AFTER_MODEL,

		/** Once, on what is kept of the turn. */
		BEFORE_SAVE

	}

	/**
	 * What a hook decided.
	 */
	public enum Outcome {

		/** It left things as they are, and noted something. */
		PASSED,

		/** It put something else in the place of what it was given. */
		REPLACED,

		/** It answered, so the model was not called. */
		ANSWERED,

		/** It refused. */
		REFUSED,

		/** It threw, or returned what its phase does not allow. */
		FAILED

	}

}
