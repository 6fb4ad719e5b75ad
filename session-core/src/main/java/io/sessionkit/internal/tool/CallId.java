package io.sessionkit.internal.tool;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

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
		try {
			byte[] digest = MessageDigest.getInstance("SHA-256").digest(place.getBytes(StandardCharsets.UTF_8));
			return HexFormat.of().formatHex(digest).substring(0, DIGITS);
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("This Java has no SHA-256.", ex);
		}
	}

}
