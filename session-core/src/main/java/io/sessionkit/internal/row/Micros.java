package io.sessionkit.internal.row;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

import org.jspecify.annotations.Nullable;

/**
 * Instants and durations as they are stored: microseconds.
 */
public final class Micros {

	/** Some 140,000 years: far enough, and now plus this is still a number. */
	private static final long LONGEST = Long.MAX_VALUE / 2;

	/** Rows are kept somewhat longer than their session lives, by a part of its life. */
	public static final long LIVES_PER_SLACK = 64;

	private Micros() {
	}

	public static long of(Instant instant) {
		return ChronoUnit.MICROS.between(Instant.EPOCH, instant);
	}

	public static @Nullable Long ofNullable(@Nullable Instant instant) {
		return (instant != null) ? of(instant) : null;
	}

	/** At least one, except for no time at all. */
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
	 * A life and a little more: when rows may be deleted that nobody can read any more.
	 * That moment does not move with each write then, nor does the index on it.
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
