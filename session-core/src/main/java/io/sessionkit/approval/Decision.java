package io.sessionkit.approval;

import org.jspecify.annotations.Nullable;

/**
 * What a person says on a tool call.
 *
 * @param verb what is to become of it
 * @param by who says so
 * @param text the reason of a rejection, or the result of an answer; null for none
 * @param arguments the arguments that are to run in the place of the model's; null for
 * those
 * @param always for which calls to come it counts too; null for this one alone
 */
public record Decision(Verb verb, String by, @Nullable String text, @Nullable String arguments,
		StandingDecision.@Nullable Scope always) {

	/** What is to become of a call. */
	public enum Verb {

		/** It runs. */
		APPROVE,

		/** It does not run. */
		REJECT,

		/** It was uncertain whether it ran: it runs again. */
		RETRY,

		/** It was uncertain whether it ran: this is its result. */
		ANSWER;

		/** Whether the call runs by it. */
		public boolean runs() {
			return this == APPROVE || this == RETRY;
		}

	}

	public Decision {
		if (by.isBlank()) {
			throw new IllegalArgumentException("A decision must say who decided; 'by' is blank.");
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
	 * The call runs.
	 * @param by who says so
	 * @return the decision
	 */
	public static Decision approve(String by) {
		return new Decision(Verb.APPROVE, by, null, null, null);
	}

	/**
	 * The call does not run, and the model is told the default.
	 * @param by who says so
	 * @return the decision
	 */
	public static Decision reject(String by) {
		return new Decision(Verb.REJECT, by, null, null, null);
	}

	/**
	 * The call does not run.
	 * @param by who says so
	 * @param reason what the model is told; an empty text is told as it is
	 * @return the decision
	 */
	public static Decision reject(String by, String reason) {
		return new Decision(Verb.REJECT, by, reason, null, null);
	}

	/**
	 * A call of which nobody knows whether it ran runs again, with the same id.
	 * @param by who says so
	 * @return the decision
	 */
	public static Decision retry(String by) {
		return new Decision(Verb.RETRY, by, null, null, null);
	}

	/**
	 * A call of which nobody knows whether it ran has this result.
	 * @param by who says so
	 * @param result what the model is told
	 * @return the decision
	 */
	public static Decision answer(String by, String result) {
		return new Decision(Verb.ANSWER, by, result, null, null);
	}

	/**
	 * This approval with other arguments.
	 * @param json the arguments that run, a JSON object that fits the tool's schema
	 * @return a copy with them
	 */
	public Decision withArguments(String json) {
		return new Decision(this.verb, this.by, this.text, json, this.always);
	}

	/**
	 * This decision for calls to come in the session too.
	 * @param scope for which of them
	 * @return a copy that counts for them
	 */
	public Decision always(StandingDecision.Scope scope) {
		return new Decision(this.verb, this.by, this.text, this.arguments, scope);
	}

	/**
	 * The decision without its texts, which may be secret.
	 * @return verb and who decided
	 */
	@Override
	public String toString() {
		return "Decision[" + this.verb + " by " + this.by + "]";
	}

}
