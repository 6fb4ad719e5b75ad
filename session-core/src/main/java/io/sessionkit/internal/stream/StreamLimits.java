package io.sessionkit.internal.stream;

import java.time.Duration;

/**
 * The limits on what is kept of a stream.
 *
 * @param timeToLive how long each part of it is kept
 * @param maxSize how long all of its chunks may be together, in characters
 */
public record StreamLimits(Duration timeToLive, long maxSize) {
}
