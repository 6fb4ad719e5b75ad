package io.sessionkit.internal.row;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

import org.jspecify.annotations.Nullable;

/**
 * Converts instants and durations to their stored form, microseconds, and back.
 */
public final class Micros {

	/** About 140,000 years: long enough, and now plus this is still a number. */
	private static final long LONGEST = Long.MAX_VALUE / 2;

	/**
	 * The divisor of the slack: rows are kept longer than their session lives, by its
	 * time to live divided by this.
	 */
	public static final long LIVES_PER_SLACK = 64;

	private Micros() {
	}

	/**
	 * Returns the microseconds since 1970. Before Java 18 the units of time count them in
	 * nanoseconds, of which there are too many from the year 2262 on.
	 */
	public static long of(Instant instant) {
		long seconds = Math.multiplyExact(instant.getEpochSecond(), 1_000_000L);
		return Math.addExact(seconds, instant.getNano() / 1_000);
	}

	public static @Nullable Long ofNullable(@Nullable Instant instant) {
		return (instant != null) ? of(instant) : null;
	}

	/**
	 * Returns the microseconds of a duration: at least one, except for a duration of
	 * zero.
	 */
	public static long of(Duration duration) {
		if (duration.isZero()) {
			return 0;
		}
		if (duration.getSeconds() >= LONGEST / 1_000_000) {
			return LONGEST;
		}
		return Math.max(1, duration.getSeconds() * 1_000_000 + duration.getNano() / 1_000);
	}

	/**
	 * Returns a time to live with some slack. It ends when the rows of an expired session
	 * may be deleted. Because of the slack, that moment does not move with each write,
	 * and the index on it rarely changes.
	 */
	public static @Nullable Long withSlack(@Nullable Long life) {
		return (life != null) ? Long.valueOf(life + life / LIVES_PER_SLACK) : null;
	}

	public static Instant instant(long micros) {
		return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
	}

	public static @Nullable Instant instantOrNull(@Nullable Long micros) {
		return (micros != null) ? instant(micros) : null;
	}

	public static @Nullable Duration durationOrNull(@Nullable Long micros) {
		return (micros != null) ? Duration.of(micros, ChronoUnit.MICROS) : null;
	}

}
