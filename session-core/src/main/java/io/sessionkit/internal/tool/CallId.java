package io.sessionkit.internal.tool;

import io.sessionkit.internal.Sha256;

import io.sessionkit.SessionKey;

/**
 * Names a tool call by its position: session, turn, round and index. The name does not
 * depend on who works on the turn, and is unique over all sessions.
 */
public final class CallId {

	private static final int DIGITS = 32;

	private CallId() {
	}

	public static String of(SessionKey key, String turnId, int round, int index) {
		String place = key.owner() + "\0" + key.id() + "\0" + turnId + "\0" + round + "\0" + index;
		return Sha256.of(place).substring(0, DIGITS);
	}

}
