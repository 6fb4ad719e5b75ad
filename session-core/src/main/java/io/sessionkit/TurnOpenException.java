package io.sessionkit;

/**
 * Thrown if the session has an open turn, and the requested operation would lose it: tool
 * calls wait in it, its process works on it and stores it step by step, or it broke off.
 * Nothing was changed.
 */
public final class TurnOpenException extends SessionException {

	private final long turn;

	/**
	 * Creates the exception.
	 * @param message a description of what was requested and what to do
	 * @param turn the number of the open turn
	 */
	public TurnOpenException(String message, long turn) {
		super(message, null);
		this.turn = turn;
	}

	@Override
	public String code() {
		return "turn-open";
	}

	/**
	 * Throws this exception if a session has an open turn.
	 * @param session its header
	 * @param what the operation as a past participle, as "cleared" in "it cannot be
	 * cleared"
	 * @throws TurnOpenException if it has one
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
	 * @param what the operation as a past participle, as "cleared" in "it cannot be
	 * cleared"
	 * @return a new exception
	 */
	public static TurnOpenException of(SessionKey key, long turn, String what) {
		return new TurnOpenException("Session " + key + " cannot be " + what + " while its turn " + turn
				+ " is open: tool calls wait in it, or its process works on it or was killed."
				+ " Continue that turn, or end it with Approvals.cancel(..) first.", turn);
	}

	/**
	 * Returns the number of the open turn.
	 * @return the number of the turn
	 */
	public long turn() {
		return this.turn;
	}

}
