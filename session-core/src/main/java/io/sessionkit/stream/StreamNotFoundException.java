package io.sessionkit.stream;

import io.sessionkit.SessionException;
import io.sessionkit.SessionKey;

/**
 * Thrown if a stream cannot be read on from where a reader wants to: there is none of
 * this name in the session, it has no such event, or what comes next has expired. These
 * look the same, so nobody learns of streams of others.
 */
public final class StreamNotFoundException extends SessionException {

	/**
	 * Creates the exception.
	 * @param key the session
	 */
	public StreamNotFoundException(SessionKey key) {
		super("Session " + key + " has no stream with such an event, or what comes next has expired"
				+ " (sessionkit.streams.time-to-live). Read the session instead.", null);
	}

	@Override
	public String code() {
		return "stream-not-found";
	}

}
