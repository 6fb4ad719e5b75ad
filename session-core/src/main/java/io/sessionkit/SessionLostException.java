package io.sessionkit;

/**
 * Thrown if the session no longer has the turn that the caller has seen in it: the
 * session was erased or has expired, or the store has lost data. The model was not called
 * and nothing was written.
 */
public final class SessionLostException extends SessionException {

	private final long expected;

	private final long found;

	/**
	 * Creates the exception.
	 * @param key the session
	 * @param expected the turn that the caller has seen
	 * @param found the newest turn that the session has; 0 if there is no session
	 */
	public SessionLostException(SessionKey key, long expected, long found) {
		super("Session " + key + " had turn " + expected + " when the caller last saw it, and "
				+ ((found > 0) ? "has only " + found + " now" : "is not there any more")
				+ ": it was erased, has expired, or the store has lost it. Call again without"
				+ " SessionAdvisor.expectTurn(..) to continue from what is there, or restore the store first.", null);
		this.expected = expected;
		this.found = found;
	}

	/**
	 * Returns the turn that the caller has seen.
	 * @return its number
	 */
	public long expected() {
		return this.expected;
	}

	/**
	 * Returns the newest turn that the session has.
	 * @return its number; 0 if there is no session, or none of its turns
	 */
	public long found() {
		return this.found;
	}

}
