package io.sessionkit;

/**
 * What became of a turn. Only {@link #COMPLETED} turns of the active branch are history;
 * the others are kept beside it, to be looked at.
 */
public enum TurnStatus {

	/** Question and answer are there: part of the history. */
	COMPLETED,

	/** A tool call waits for a person; later calls continue the turn. */
	AWAITING_APPROVAL,

	/** The model, a tool or the application threw; kept with what there was. */
	FAILED,

	/** The caller went away before the answer was whole. */
	CANCELLED,

	/** A hook refused the input, a request or the answer; the verdict says which. */
	REFUSED,

	/** Written step by step and not finished yet, or left behind by a killed process. */
	INCOMPLETE;

	/**
	 * Whether later calls may still add to the turn.
	 * @return true for {@link #AWAITING_APPROVAL} and {@link #INCOMPLETE}
	 */
	public boolean isOpen() {
		return this == AWAITING_APPROVAL || this == INCOMPLETE;
	}

}
