package io.sessionkit;

/**
 * The session has an open turn, whose tool calls wait, and what was asked for would lose
 * it. Nothing was changed.
 */
public final class SessionPausedException extends SessionException {

	private final long turn;

	public SessionPausedException(String message, long turn) {
		super(message, null);
		this.turn = turn;
	}

	/**
	 * Throws if a session has an open turn.
	 * @param session its header
	 * @param what what would be done to it, as in "it cannot be cleared"
	 * @throws SessionPausedException if it has one
	 */
	public static void check(Session session, String what) {
		if (session.openTurn() != 0) {
			throw of(session.key(), session.openTurn(), what);
		}
	}

	/**
	 * Returns the exception for a session whose turn is open.
	 * @param key the session
	 * @param turn the number of the open turn
	 * @param what what would be done to the session, as in "it cannot be cleared"
	 * @return a new exception
	 */
	public static SessionPausedException of(SessionKey key, long turn, String what) {
		return new SessionPausedException(
				"Session " + key + " cannot be " + what + " while tool calls wait in its turn " + turn
						+ ". Continue that turn, or end it with Approvals.cancel(..) first.",
				turn);
	}

	/**
	 * Which turn waits.
	 * @return its number
	 */
	public long turn() {
		return this.turn;
	}

}
