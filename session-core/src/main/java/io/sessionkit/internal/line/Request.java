package io.sessionkit.internal.line;

import java.time.Duration;

import io.sessionkit.internal.Sha256;

/**
 * A request that its client can tell from all others, so that it can be made again.
 *
 * @param id the digest of the name that the client gave to it
 * @param content the digest of what it asks
 * @param timeToLive how long the turn that answers it is remembered
 */
public record Request(String id, String content, Duration timeToLive) {

	/**
	 * Creates a request.
	 * @param name the name that the client gave to it
	 * @param content the digest of what it asks
	 * @param timeToLive how long the turn that answers it is remembered
	 * @return the request
	 */
	public static Request of(String name, String content, Duration timeToLive) {
		return new Request(Sha256.of(name), content, timeToLive);
	}

}
