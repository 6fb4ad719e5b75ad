package io.sessionkit.internal.message;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.TurnOpenException;

/**
 * Refuses what would take messages from the open turn of a session, or from under it.
 */
public final class OpenTurn {

	private OpenTurn() {
	}

	/**
	 * Checks that a session has no open turn.
	 * @param session its header
	 * @param what the operation as a past participle, as "cleared" in "it cannot be
	 * cleared"
	 * @throws TurnOpenException if it has one
	 */
	public static void check(Session session, String what) {
		if (session.openTurn() != 0) {
			throw refusal(session.key(), session.openTurn(), what);
		}
	}

	/**
	 * Returns the exception for a session whose turn is open.
	 * @param key the session
	 * @param turn the number of the open turn
	 * @param what the operation as a past participle, as "cleared" in "it cannot be
	 * cleared"
	 * @return the exception to throw
	 */
	public static TurnOpenException refusal(SessionKey key, long turn, String what) {
		return new TurnOpenException("Session " + key + " cannot be " + what + " while its turn " + turn
				+ " is open: tool calls wait in it, or its process works on it or was killed."
				+ " Continue that turn, or end it with Approvals.cancel(..) first.", turn);
	}

}
