package io.sessionkit.approval;

import org.jspecify.annotations.Nullable;

/**
 * The ruling of a policy on a tool call.
 *
 * @param kind whether the call may run
 * @param text for {@link Kind#ASK} a text for the person who decides, for
 * {@link Kind#DENY} the text that the model gets; null for the default
 */
public record Ruling(Kind kind, @Nullable String text) {

	/** The possible rulings, from the mildest to the strictest. */
	public enum Kind {

		/** The call may run. */
		ALLOW,

		/** A person decides on the call. */
		ASK,

		/** The call does not run. */
		DENY

	}

	private static final Ruling ALLOW = new Ruling(Kind.ALLOW, null);

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
		return new Ruling(Kind.ASK, null);
	}

	/**
	 * Returns the ruling that a person decides, with a text for that person.
	 * @param description the text for the person who decides
	 * @return the ruling
	 */
	public static Ruling ask(String description) {
		return new Ruling(Kind.ASK, description);
	}

	/**
	 * Returns the ruling that the call does not run.
	 * @param reason the text that the model gets instead of a result
	 * @return the ruling
	 */
	public static Ruling deny(String reason) {
		return new Ruling(Kind.DENY, reason);
	}

	/**
	 * Returns the stricter of this ruling and another. If both are equally strict, this
	 * one is returned, unless only the other has a text.
	 * @param other the other ruling
	 * @return one of the two
	 */
	public Ruling or(Ruling other) {
		int compared = this.kind.compareTo(other.kind);
		boolean keepsThis = compared > 0 || (compared == 0 && (this.text != null || other.text == null));
		return keepsThis ? this : other;
	}

}
