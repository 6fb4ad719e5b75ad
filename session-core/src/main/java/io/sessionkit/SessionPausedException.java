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
			throw new SessionPausedException(
					"Session " + session.key() + " cannot be " + what + " while tool calls wait in its turn "
							+ session.openTurn() + ". Continue that turn, or end it with Approvals.cancel(..) first.",
					session.openTurn());
		}
	}

	/**
	 * Which turn waits.
	 * @return its number
	 */
	public long turn() {
		return this.turn;
	}

}
