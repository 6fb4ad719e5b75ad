package io.sessionkit.observation;

/**
 * The result of a call on a session.
 */
public enum CallOutcome {

	/** The turn has become history. */
	COMPLETED,

	/** The turn has its answer and is not stored, since the call only reads. */
	UNSTORED,

	/** The turn waits for a person. */
	AWAITING_APPROVAL,

	/** The process shuts down. Another one can continue the turn. */
	HANDED_OVER,

	/** The call has failed. Its turn is not history. */
	FAILED,

	/** The caller has disconnected. The turn is not history. */
	CANCELLED,

	/** A hook has refused. */
	REFUSED,

	/** The call got the turn of another call, which it repeats or has joined. */
	ANSWERED,

	/** The message of the call waits until the open turn continues. */
	QUEUED

}
