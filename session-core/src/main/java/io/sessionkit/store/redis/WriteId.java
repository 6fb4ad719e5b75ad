package io.sessionkit.store.redis;

import java.security.SecureRandom;
import java.util.Base64;

/**
 * Names one write, so that its script recognizes it when it comes twice. Random, since
 * nobody gives numbers to all processes, and drawn anew each time, since a process may be
 * restored twice from one image.
 *
 * @param text the id
 */
record WriteId(String text) {

	private static final int BYTES = 9;

	private static final SecureRandom random = new SecureRandom();

	static WriteId next() {
		byte[] bytes = new byte[BYTES];
		random.nextBytes(bytes);
		return new WriteId(Base64.getUrlEncoder().withoutPadding().encodeToString(bytes));
	}

}
