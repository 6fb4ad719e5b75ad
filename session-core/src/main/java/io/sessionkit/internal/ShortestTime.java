package io.sessionkit.internal;

import java.time.Duration;

/**
 * The shortest time for which something is kept, or left to one process. A shorter one is
 * a mistake in its unit.
 */
public final class ShortestTime {

	/** A second. */
	public static final Duration LIMIT = Duration.ofSeconds(1);

	private ShortestTime() {
	}

	/**
	 * Returns whether a time is shorter than the shortest.
	 */
	public static boolean isAbove(Duration time) {
		return LIMIT.compareTo(time) > 0;
	}

}
