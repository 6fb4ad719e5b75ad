package io.sessionkit.internal;

import java.time.Duration;
import java.util.Locale;

/**
 * The form that measured and configured times have in exceptions and in the log, rounded
 * to what a reader needs.
 */
public final class DurationText {

	private static final int MILLIS_PER_SECOND = 1_000;

	/** From one second on, tenths are shown. */
	private static final int MILLIS_PER_TENTH = 100;

	private DurationText() {
	}

	/**
	 * Returns a text such as {@code 200ms}, {@code 5s} or {@code 1h30m}.
	 * @param duration the duration, zero or more
	 */
	public static String of(Duration duration) {
		long millis = duration.plusNanos(500_000).toMillis();
		return (millis < MILLIS_PER_SECOND) ? millis + "ms" : tenths(millis + MILLIS_PER_TENTH / 2);
	}

	private static String tenths(long millis) {
		return Duration.ofMillis(millis - millis % MILLIS_PER_TENTH)
			.toString()
			.substring("PT".length())
			.toLowerCase(Locale.ROOT);
	}

}
