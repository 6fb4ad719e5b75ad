package io.sessionkit.store.redis;

import java.util.Base64;

import io.sessionkit.internal.RandomNumbers;

/**
 * The id of one write, by which its script recognizes the write when it arrives twice. It
 * is random, because the writes of all processes have no common numbering, and it is
 * drawn for each write, because a process may be restored twice from one image.
 *
 * @param text the id
 */
record WriteId(String text) {

	private static final int BYTES = 9;

	/** Returns an id that no other write has. */
	static WriteId next() {
		return new WriteId(Base64.getUrlEncoder().withoutPadding().encodeToString(RandomNumbers.bytes(BYTES)));
	}

}
