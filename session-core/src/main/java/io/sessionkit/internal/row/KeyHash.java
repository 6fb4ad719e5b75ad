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
		return Sha256.of(this.key.owner());
	}

	/**
	 * Returns the hash of an owner whose sessions or records are listed.
	 * @throws io.sessionkit.InvalidSessionKeyException if no session can have the owner:
	 * its hash could be that of another one
	 */
	public static String ofOwner(String owner) {
		if (!owner.isEmpty()) {
			SessionKey.checkOwner(owner);
		}
		return Sha256.of(owner);
	}

}
