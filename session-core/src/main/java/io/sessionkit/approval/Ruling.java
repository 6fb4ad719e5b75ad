package io.sessionkit.approval;

import org.jspecify.annotations.Nullable;

/**
 * The ruling of a policy on a tool call.
 *
 * @param outcome whether the call may run
 * @param text for {@link Outcome#ASK} a text for the person who decides, for
 * {@link Outcome#DENY} the text that the model gets; null for the default
 */
public record Ruling(Outcome outcome, @Nullable String text) {

	/** The possible rulings, from the mildest to the strictest. */
	public enum Outcome {

		/** The call may run. */
		ALLOW,

		/** A person decides on the call. */
		ASK,

		/** The call does not run. */
		DENY

	}

	private static final Ruling ALLOW = new Ruling(Outcome.ALLOW, null);

	/**
	 * Returns the ruling that the call may run.
	 * @return the ruling
	 */
	public static Ruling allow() {
		return ALLOW;
	}

	/**
	 * Returns the ruling that a person decides.
	 * @return the ruling
	 */
	public static Ruling ask() {
		return new Ruling(Outcome.ASK, null);
	}

	/**
	 * Returns the ruling that a person decides, with a text for that person.
	 * @param description the text for the person who decides
	 * @return the ruling
	 */
	public static Ruling ask(String description) {
		return new Ruling(Outcome.ASK, description);
	}

	/**
	 * Returns the ruling that the call does not run.
	 * @param reason the text that the model gets instead of a result
	 * @return the ruling
	 */
	public static Ruling deny(String reason) {
		return new Ruling(Outcome.DENY, reason);
	}

	/**
	 * Returns the stricter of this ruling and another. If both are equally strict, this
	 * one is returned, unless only the other has a text.
	 * @param other the other ruling
	 * @return one of the two
	 */
	public Ruling or(Ruling other) {
		int compared = this.outcome.compareTo(other.outcome);
		boolean keepsThis = compared > 0 || (compared == 0 && (this.text != null || other.text == null));
		return keepsThis ? this : other;
	}

}
