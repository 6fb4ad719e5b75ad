package io.sessionkit.internal;

import java.time.Duration;

/**
 * The longest time that a call, a tool or a lease may take. Clocks that count nanoseconds
 * overflow after 292 years.
 */
public final class LongestTime {

	/** A year. */
	public static final Duration LIMIT = Duration.ofDays(365);

	private LongestTime() {
	}

	/**
	 * Returns whether a time is longer than the longest.
	 */
	public static boolean isBelow(Duration time) {
		return LIMIT.compareTo(time) < 0;
	}

}
