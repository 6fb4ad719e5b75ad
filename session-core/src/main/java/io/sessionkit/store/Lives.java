package io.sessionkit.store;

import java.time.Duration;
import java.time.temporal.ChronoUnit;

import org.jspecify.annotations.Nullable;

/**
 * Limits times to live to those that every store can keep: in whole microseconds, and
 * short enough that an instant plus a time to live is still an instant.
 */
final class Lives {

	/** About 140,000 years. */
	private static final Duration LONGEST = Duration.of(Long.MAX_VALUE / 2, ChronoUnit.MICROS);

	private static final Duration SHORTEST = Duration.of(1, ChronoUnit.MICROS);

	private Lives() {
	}

	/**
	 * Returns the time to live to keep. Null and zero stay what they are.
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
