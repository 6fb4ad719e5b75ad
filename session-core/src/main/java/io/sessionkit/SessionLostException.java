package io.sessionkit;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.model.ChatResponse;

/**
 * Thrown if the session no longer has what a call builds on: the session was erased, has
 * expired or was evicted from memory, or the store has lost data. If the caller names a
 * turn that it has seen and the session does not have, the model is not called. If the
 * session goes while a turn is at work, nothing of that turn is stored, and
 * {@link #reply} has the answer of the model. A call that waits in line then does not
 * begin the session again.
 */
public final class SessionLostException extends SessionException {

	private final long expected;

	private final long found;

	private final transient @Nullable ChatResponse reply;

	/**
	 * Creates the exception.
	 * @param key the session
	 * @param expected the turn that the caller has seen
	 * @param found the newest turn that the session has; 0 if there is no session
	 */
	public SessionLostException(SessionKey key, long expected, long found) {
		super("Session " + key + " had turn " + expected + " when the caller last saw it, and "
				+ ((found > 0) ? "has only " + found + " now" : "is gone")
				+ ": it was erased, has expired, or the store has evicted or lost it. Call again without"
				+ " SessionAdvisor.expectTurn(..) to continue from what is there, or restore the store first.", null);
		this.expected = expected;
		this.found = found;
		this.reply = null;
	}

	/**
	 * Creates the exception for a session that has gone while a call waited in its line.
	 * @param key the session
	 */
	public SessionLostException(SessionKey key) {
		super("Session " + key + " was erased or has expired while this call waited in its line, or a store in memory"
				+ " that was full has evicted it. Nothing was run or stored. Call again to begin the session anew.",
				null);
		this.expected = 0;
		this.found = 0;
		this.reply = null;
	}

	/**
	 * Creates the exception for a session that has gone while a turn was at work.
	 * @param key the session
	 * @param expected the newest turn that the session had when that turn was opened; 0
	 * if it had none
	 * @param reply the model's answer; null if there is none
	 */
	public SessionLostException(SessionKey key, long expected, @Nullable ChatResponse reply) {
		super("Session " + key + " was erased or has expired while a turn was at work on it, or a store in memory that"
				+ " was full has evicted it. Nothing of that turn was stored"
				+ ((reply != null) ? "; the reply is in this exception" : "")
				+ ". Call again to begin the session anew.", null);
		this.expected = expected;
		this.found = 0;
		this.reply = reply;
	}

	@Override
	public String code() {
		return "session-lost";
	}

	/**
	 * Returns the model's answer, if a turn was at work and had come that far.
	 * @return the reply; null if there is none, and after serialization
	 */
	public @Nullable ChatResponse reply() {
		return this.reply;
	}

	/**
	 * Returns the turn that the caller has seen, or the newest one that a turn at work
	 * has seen.
	 * @return its number; 0 for none
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
