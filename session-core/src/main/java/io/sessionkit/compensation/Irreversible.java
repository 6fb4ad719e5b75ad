package io.sessionkit.compensation;

/**
 * An effect that a rewind cannot take back.
 *
 * @param effect the call that has, or may have, the effect
 * @param reason the kind of reason
 * @param detail a sentence for the person who reads the plan; it has no argument and no
 * result
 */
public record Irreversible(Effect effect, Reason reason, String detail) {

	/**
	 * The reasons for which an effect cannot be taken back.
	 */
	public enum Reason {

		/** The tool names no tool that takes its effect back. */
		NO_COMPENSATION,
		/** The tool is not among those that the rewind knows. */
		UNKNOWN_TOOL,
		/** The compensating tool is not among those that the rewind knows. */
		MISSING_TOOL,
		/**
		 * It is not certain with which arguments the tool ran, or they are not enough for
		 * the compensating tool.
		 */
		ARGUMENTS,
		/**
		 * It is not known whether the call has had its effect, or whether it had it
		 * before a person let it run again.
		 */
		UNCERTAIN,
		/** The call was not run by a turn of this session. */
		ELSEWHERE,
		/** A policy denies the compensating call. */
		DENIED,
		/** A person has rejected the compensating call. */
		REJECTED

	}

}
