package io.sessionkit.approval;

import org.jspecify.annotations.Nullable;

/**
 * What a policy says on a tool call.
 *
 * @param outcome whether it may run
 * @param text for {@link Outcome#ASK} what the person who decides is told, for
 * {@link Outcome#DENY} what the model is told; null for nothing in particular
 */
public record Ruling(Outcome outcome, @Nullable String text) {

	/** From the mildest to the strictest. */
	public enum Outcome {

		/** It may run. */
		ALLOW,

		/** A person decides. */
		ASK,

		/** It does not run. */
		DENY

	}

	private static final Ruling ALLOW = new Ruling(Outcome.ALLOW, null);

	/**
	 * The call may run.
	 * @return the ruling
	 */
	public static Ruling allow() {
		return ALLOW;
	}

	/**
	 * A person decides.
	 * @return the ruling
	 */
	public static Ruling ask() {
		return new Ruling(Outcome.ASK, null);
	}

	/**
	 * A person decides.
	 * @param description what that person is told
	 * @return the ruling
	 */
	public static Ruling ask(String description) {
		return new Ruling(Outcome.ASK, description);
	}

	/**
	 * The call does not run.
	 * @param reason what the model is told in the place of a result
	 * @return the ruling
	 */
	public static Ruling deny(String reason) {
		return new Ruling(Outcome.DENY, reason);
	}

	/**
	 * The stricter of two rulings.
	 */
	public Ruling or(Ruling other) {
		int compared = this.outcome.compareTo(other.outcome);
		boolean keepsThis = compared > 0 || (compared == 0 && (this.text != null || other.text == null));
		return keepsThis ? this : other;
	}

}
