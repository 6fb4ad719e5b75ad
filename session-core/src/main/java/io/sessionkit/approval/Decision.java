package io.sessionkit.approval;

import org.jspecify.annotations.Nullable;

/**
 * The decision of a person on a tool call.
 *
 * @param verb the kind of decision
 * @param by the name of the person who decides; not blank
 * @param text the reason of a rejection, or the result of an answer; null for none
 * @param arguments the arguments to run with instead of the model's; null for the model's
 * @param always the later calls for which the decision counts too; null for this call
 * alone
 */
public record Decision(Verb verb, String by, @Nullable String text, @Nullable String arguments,
		StandingDecision.@Nullable Scope always) {

	/** The kinds of decision. */
	public enum Verb {

		/** The call runs. */
		APPROVE,

		/** The call does not run. */
		REJECT,

		/** It was uncertain whether the call ran; it runs again, with the same id. */
		RETRY,

		/** It was uncertain whether the call ran; the decision has its result. */
		ANSWER;

		/**
		 * Returns whether the call runs after such a decision.
		 * @return true for {@link #APPROVE} and {@link #RETRY}
		 */
		public boolean runs() {
			return this == APPROVE || this == RETRY;
		}

	}

	public Decision {
		if (by == null || by.isBlank()) {
			throw new IllegalArgumentException(
					"A decision must say who decided; 'by' is null or blank. Use the name of the person.");
		}
		if (arguments != null && (verb != Verb.APPROVE || always != null)) {
			throw new IllegalArgumentException("Other arguments go with the approval of one call only, not with "
					+ ((always != null) ? "an 'always'" : verb) + ".");
		}
		if (always != null && verb != Verb.APPROVE && verb != Verb.REJECT) {
			throw new IllegalArgumentException("Only an approval or a rejection can count always, not " + verb + ".");
		}
	}

	/**
	 * Creates an approval: the call runs.
	 * @param by the name of the person who decides
	 * @return the decision
	 */
	public static Decision approve(String by) {
		return new Decision(Verb.APPROVE, by, null, null, null);
	}

	/**
	 * Creates a rejection without a reason: the call does not run, or not again, and the
	 * model gets the default text.
	 * @param by the name of the person who decides
	 * @return the decision
	 */
	public static Decision reject(String by) {
		return new Decision(Verb.REJECT, by, null, null, null);
	}

	/**
	 * Creates a rejection: the call does not run, or not again.
	 * @param by the name of the person who decides
	 * @param reason the text that the model gets; an empty text is passed on as it is
	 * @return the decision
	 */
	public static Decision reject(String by, String reason) {
		return new Decision(Verb.REJECT, by, reason, null, null);
	}

	/**
	 * Creates a decision that an uncertain call runs again, with the same id.
	 * @param by the name of the person who decides
	 * @return the decision
	 */
	public static Decision retry(String by) {
		return new Decision(Verb.RETRY, by, null, null, null);
	}

	/**
	 * Creates a decision that gives an uncertain call its result.
	 * @param by the name of the person who decides
	 * @param result the result that the model gets
	 * @return the decision
	 */
	public static Decision answer(String by, String result) {
		return new Decision(Verb.ANSWER, by, result, null, null);
	}

	/**
	 * Returns this decision in the name of another person.
	 * @param name the name; not blank
	 * @return a copy with this name
	 */
	public Decision by(String name) {
		return new Decision(this.verb, name, this.text, this.arguments, this.always);
	}

	/**
	 * Returns this approval with other arguments. Whoever may decide chooses them: what
	 * policies deny does not run, but nobody is asked once more.
	 * @param json the arguments to run with, a JSON object that fits the tool's schema
	 * @return a copy with these arguments
	 * @throws IllegalArgumentException if this is not an approval, or counts for later
	 * calls too
	 */
	public Decision withArguments(String json) {
		return new Decision(this.verb, this.by, this.text, json, this.always);
	}

	/**
	 * Returns this decision for later calls in the session too; for this call alone if
	 * its tool was not on offer, since no later tool would be the one that was decided
	 * on.
	 * @param scope the later calls for which it counts
	 * @return a copy that counts for them
	 * @throws IllegalArgumentException if this is neither an approval nor a rejection, or
	 * has other arguments
	 */
	public Decision always(StandingDecision.Scope scope) {
		return new Decision(this.verb, this.by, this.text, this.arguments, scope);
	}

	/**
	 * Returns the decision without its texts, which may be secret.
	 * @return the kind of decision and who decided
	 */
	@Override
	public String toString() {
		return "Decision[" + this.verb + " by " + this.by + "]";
	}

}
