package io.sessionkit.internal.row;

import io.sessionkit.SessionKey;
import io.sessionkit.internal.Sha256;

/**
 * The hashes by which sessions are found. Every collation compares them alike.
 *
 * @param session SHA-256 of owner, NUL and id, in hexadecimal
 * @param owner SHA-256 of the owner
 */
public record KeyHash(String session, String owner) {

	public static KeyHash of(SessionKey key) {
		return new KeyHash(Sha256.of(key.owner() + '\0' + key.id()), ofOwner(key.owner()));
	}

	public static String ofOwner(String owner) {
		return Sha256.of(owner);
	}

}
