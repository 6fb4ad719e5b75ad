package io.sessionkit.internal.lease;

import io.sessionkit.store.SessionStore;

/**
 * The kinds of the records that are kept beside an open turn.
 */
public final class TurnRecords {

	/** The kind of the records that hold the reply that an open turn holds back. */
	public static final String PAUSE = "pause";

	/**
	 * The kind of the records that hold the tool calls of the reply that an open turn
	 * holds back.
	 */
	public static final String HELD_CALLS = SessionStore.APPROVAL;

	/** The kind of the records that name the current worker of an open turn. */
	public static final String LEASE = "lease";

	/** The kind of the records that name the call that rewinds a session. */
	public static final String REWIND = "rewind";

	/**
	 * The id of the record that names the worker. There is one in a session, since at
	 * most one turn of it is open. So a call can take the lease before it knows more of
	 * the open turn than that there is one.
	 */
	public static final String LEASE_ID = "turn";

	private TurnRecords() {
	}

}
