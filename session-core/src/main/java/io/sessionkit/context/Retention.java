package io.sessionkit.context;

import java.time.Duration;
import java.time.temporal.ChronoUnit;

import io.sessionkit.internal.Bound;
import io.sessionkit.internal.ShortestTime;
import org.jspecify.annotations.Nullable;

/**
 * The limits on what a session keeps. After a turn has become history, the oldest turns
 * that exceed a limit are deleted permanently. Both limits apply together. What the model
 * was shown in turns that stay is kept, and so are summaries.
 *
 * @param maxTurns the largest number of turns of history that a session keeps, at least
 * 1; {@link Integer#MAX_VALUE} for no limit. With a turn that exceeds it, all turns go
 * that were stored before: failed ones and those of other branches too
 * @param maxAge how long a turn is kept after it has ended, a second at least (stored
 * settings may have less), at most 100,000 years; null for no limit. The newest turn
 * always stays
 * @param batch how many turns are deleted at a time: a session is looked at again when it
 * has this many turns more. A small number is exact, a large one costs fewer round trips
 */
public record Retention(int maxTurns, @Nullable Duration maxAge, int batch) {

	/** 100,000 years: a time minus this is still a time. */
	private static final Duration LONGEST = ChronoUnit.MILLENNIA.getDuration().multipliedBy(100);

	/** The default number of turns to delete at a time. */
	public static final int DEFAULT_BATCH = 400;

	/** Keeps everything. */
	public static final Retention NONE = new Retention(Integer.MAX_VALUE, null, DEFAULT_BATCH);

	public Retention {
		if (!Bound.RETAINED_TURNS.allows(maxTurns)) {
			throw new IllegalArgumentException("retention.max-turns must be 1 or more: " + maxTurns
					+ ". Leave it out to keep all turns; use Conversation.reset() to begin anew.");
		}
		if (maxAge != null && (maxAge.isNegative() || maxAge.isZero())) {
			throw new IllegalArgumentException("retention.max-age must be positive: " + maxAge
					+ ". Write for example 30d, or leave it out to keep turns of any age.");
		}
		if (batch < 1) {
			throw new IllegalArgumentException(
					"retention.batch must be 1 or more: " + batch + ". Leave it out for " + DEFAULT_BATCH + ".");
		}
		maxAge = (maxAge != null && maxAge.compareTo(LONGEST) > 0) ? LONGEST : maxAge;
	}

	/**
	 * Returns a retention that keeps the newest turns.
	 * @param turns the number of turns, at least 1
	 * @return the retention
	 */
	public static Retention keepLastTurns(int turns) {
		return NONE.maxTurns(turns);
	}

	/**
	 * Returns a retention that keeps turns for a time.
	 * @param age how long a turn is kept after it has ended, at least a second
	 * @return the retention
	 */
	public static Retention keepFor(Duration age) {
		return NONE.maxAge(age);
	}

	/**
	 * Returns a copy of this retention that keeps another number of the newest turns.
	 * @param turns the number of turns, at least 1; {@link Integer#MAX_VALUE} for no
	 * limit
	 * @return the copy
	 */
	public Retention maxTurns(int turns) {
		return new Retention(turns, this.maxAge, this.batch);
	}

	/**
	 * Returns a copy of this retention that also deletes turns of this age.
	 * @param age how long a turn is kept after it has ended, at least a second
	 * @return the copy
	 */
	public Retention maxAge(Duration age) {
		// the constructor takes shorter ones, since stored settings may have them
		if (ShortestTime.isAbove(age)) {
			throw new IllegalArgumentException("retention.max-age must be a second or more: " + age
					+ ". Write for example 30d, or leave it out to keep turns of any age.");
		}
		return new Retention(this.maxTurns, age, this.batch);
	}

	/**
	 * Returns a copy of this retention with another number of turns that are deleted at a
	 * time.
	 * @param turns the number of turns, at least 1
	 * @return the copy
	 */
	public Retention batch(int turns) {
		return new Retention(this.maxTurns, this.maxAge, turns);
	}

	/**
	 * Returns whether there is a limit.
	 * @return false if everything is kept
	 */
	public boolean isLimited() {
		return this.maxTurns < Integer.MAX_VALUE || this.maxAge != null;
	}

}
