package io.sessionkit.internal.row;

import io.sessionkit.SessionKey;
import io.sessionkit.internal.Sha256;

/**
 * The hashes by which sessions are found. Every collation compares them alike.
 *
 * @param key the session
 * @param session SHA-256 of owner, NUL and id, in hexadecimal
 */
public record KeyHash(SessionKey key, String session) {

	public static KeyHash of(SessionKey key) {
		return new KeyHash(key, Sha256.of(key.owner() + '\0' + key.id()));
	}

	/**
	 * Returns the hash of the owner, which few operations need.
	 */
	public String owner() {
		return ofOwner(this.key.owner());
	}

	public static String ofOwner(String owner) {
		return Sha256.of(owner);
	}

}
