package io.sessionkit.stream;

/**
 * The ways to treat a turn whose reader disconnects, if its stream can be resumed.
 */
public enum OnDisconnect {

	/**
	 * The turn continues, and its events wait for a reader who comes back.
	 */
	CONTINUE,

	/**
	 * The turn is cancelled when no reader is connected any more to the process that
	 * works on it.
	 */
	CANCEL

}
