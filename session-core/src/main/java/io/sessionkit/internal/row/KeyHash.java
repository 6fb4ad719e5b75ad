package io.sessionkit.internal.row;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

import io.sessionkit.SessionKey;

/**
 * The hashes by which sessions are found. Every collation compares them alike.
 *
 * @param session SHA-256 of owner, NUL and id, in hexadecimal
 * @param owner SHA-256 of the owner
 */
public record KeyHash(String session, String owner) {

	public static KeyHash of(SessionKey key) {
		return new KeyHash(hash(key.owner() + '\0' + key.id()), ofOwner(key.owner()));
	}

	public static String ofOwner(String owner) {
		return hash(owner);
	}

	private static String hash(String text) {
		try {
			MessageDigest digest = MessageDigest.getInstance("SHA-256");
			return HexFormat.of().formatHex(digest.digest(text.getBytes(StandardCharsets.UTF_8)));
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("This Java runtime has no SHA-256.", ex);
		}
	}

}
