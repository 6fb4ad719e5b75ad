package io.sessionkit.internal.tool;

import io.sessionkit.SessionKey;
import io.sessionkit.internal.Sha256;

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

	/**
	 * Names the call that takes the effect of another one back, by the place of the other
	 * one: session, turn, item and index. The name differs from that of the other call,
	 * so that a service which knows both takes neither for the other.
	 */
	public static String ofCompensation(SessionKey key, String turnId, long item, int index) {
		String place = key.owner() + "\0" + key.id() + "\0" + turnId + "\0" + item + "\0" + index;
		return Sha256.of("compensation\0" + place).substring(0, DIGITS);
	}

	/**
	 * Names what a call may have done before a person let it run again. No call takes
	 * that back.
	 * @param compensation the name of the call that takes back what it has done since
	 */
	public static String ofRunsBefore(String compensation) {
		return Sha256.of("runs before\0" + compensation).substring(0, DIGITS);
	}

}
