package io.sessionkit;

import java.util.Locale;

import com.fasterxml.jackson.annotation.JsonValue;

/**
 * The status of a turn: how it ended, or why it is still open. Only {@link #COMPLETED}
 * turns of the active branch are history. The others are kept beside the history and can
 * be inspected.
 */
public enum TurnStatus {

	/**
	 * The turn has its question and its reply, or was ended by {@code Approvals.cancel}
	 * without one, and can be part of the history.
	 */
	COMPLETED,

	/** A tool call waits for a person; later calls continue the turn. */
	AWAITING_APPROVAL,

	/**
	 * The model, a tool or the application threw, or the reply has no content. The turn
	 * is kept with what it had so far.
	 */
	FAILED,

	/** The caller cancelled the call before the reply was complete. */
	CANCELLED,

	/** A hook refused the input, a request or the reply. The verdict says which. */
	REFUSED,

	/**
	 * The turn is written step by step and is not finished yet, or was continued and has
	 * broken off in a later tool round, or the process that worked on it was killed or
	 * has shut down.
	 */
	INCOMPLETE;

	/**
	 * Returns whether later calls may still add to the turn.
	 * @return true for {@link #AWAITING_APPROVAL} and {@link #INCOMPLETE}
	 */
	public boolean isOpen() {
		return this == AWAITING_APPROVAL || this == INCOMPLETE;
	}

	/**
	 * Returns the status as it is written: in JSON, such as that of events, and in
	 * problem details.
	 * @return the name in lower case, with hyphens between words
	 */
	@JsonValue
	public String code() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

}
