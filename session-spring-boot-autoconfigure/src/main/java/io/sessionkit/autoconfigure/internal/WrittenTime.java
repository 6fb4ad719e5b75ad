package io.sessionkit.autoconfigure.internal;

import java.time.Duration;

/**
 * The form in which reports show a time: as it would be written as a property, so that it
 * is found there.
 */
public final class WrittenTime {

	/** The shortest time that a property may have. */
	public static final Duration SHORTEST = Duration.ofSeconds(1);

	private static final int NANOS_PER_MILLI = 1_000_000;

	private WrittenTime() {
	}

	/**
	 * Returns a text such as {@code 500ms}, {@code 90m} or {@code 30d}.
	 */
	public static String of(Duration time) {
		if (time.getNano() != 0) {
			return (time.getNano() % NANOS_PER_MILLI == 0) ? time.toMillis() + "ms" : time.toString();
		}
		if (isIn(time, Duration.ofDays(1))) {
			return time.toDays() + "d";
		}
		if (isIn(time, Duration.ofHours(1))) {
			return time.toHours() + "h";
		}
		return isIn(time, Duration.ofMinutes(1)) ? time.toMinutes() + "m" : time.toSeconds() + "s";
	}

	private static boolean isIn(Duration time, Duration unit) {
		return !time.isZero() && time.toSeconds() % unit.toSeconds() == 0;
	}

}
