package io.sessionkit.observation;

/**
 * The kinds of leases that a call can lose because it did not show in time that it is
 * there.
 */
public enum LeaseKind {

	/** The lease of an open turn. */
	TURN,

	/** The lease of a rewind. */
	REWIND,

	/** The place of a call that works, in the line of calls on a session. */
	LINE

}
