package io.sessionkit.store;

import java.time.Duration;
import java.time.temporal.ChronoUnit;

import org.jspecify.annotations.Nullable;

/**
 * Times to live as every store can keep them: to the microsecond, and so that a moment
 * plus one of them still is a moment.
 */
final class Lives {

	/** Some 140,000 years. */
	private static final Duration LONGEST = Duration.of(Long.MAX_VALUE / 2, ChronoUnit.MICROS);

	private static final Duration SHORTEST = Duration.of(1, ChronoUnit.MICROS);

	private Lives() {
	}

	/**
	 * The life to keep; no life at all stays what it is.
	 * @throws IllegalArgumentException if it is negative
	 */
	static @Nullable Duration kept(@Nullable Duration life) {
		if (life == null || life.isZero()) {
			return life;
		}
		if (life.isNegative()) {
			throw new IllegalArgumentException("A time to live must not be negative: " + life + ".");
		}
		if (life.compareTo(LONGEST) >= 0) {
			return LONGEST;
		}
		Duration micros = life.truncatedTo(ChronoUnit.MICROS);
		return micros.isZero() ? SHORTEST : micros;
	}

}
