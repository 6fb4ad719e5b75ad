package io.sessionkit.context;

/**
 * The handling of a history that a call brings, and of the turn that follows it. In all
 * cases the messages are sent as they are, in front of the input of the call: no limit,
 * pruning, merge or summary changes them.
 */
public enum HistoryPolicy {

	/**
	 * The call leaves the session as it is: neither the history nor the turn is stored.
	 */
	OVERRIDE,

	/**
	 * The turn is stored behind the head of the session. The history that was sent is its
	 * snapshot, and nothing else remembers it: the next call is sent the history of the
	 * session. If the turn waits, the call that continues it is sent its snapshot; it is
	 * refused if messages of it are not there any more.
	 */
	USE_IF_PROVIDED,

	/**
	 * If the call has an answer, the session starts anew with this history as its seed,
	 * and the turn follows it. If the call has none, the session stays as it is.
	 */
	REPLACE_SESSION

}
