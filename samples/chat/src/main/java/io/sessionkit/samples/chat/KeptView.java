package io.sessionkit.samples.chat;

import java.time.Duration;

import io.sessionkit.SessionSettings.RetentionSettings;
import org.jspecify.annotations.Nullable;

/**
 * The limits of what a thread keeps.
 *
 * @param turns the largest number of turns; null for no limit
 * @param seconds how long a turn is kept; null for no limit
 */
record KeptView(@Nullable Integer turns, @Nullable Long seconds) {

	/**
	 * Returns the limits that are in force: those of the session, or else the configured
	 * ones.
	 * @param turns the configured number of turns; {@link Integer#MAX_VALUE} for no limit
	 * @param age the configured age; {@link Duration#ZERO} for no limit
	 */
	static KeptView of(RetentionSettings own, int turns, Duration age) {
		int most = (own.maxTurns() != null) ? own.maxTurns() : turns;
		Duration oldest = (own.maxAge() != null) ? own.maxAge() : age;
		return new KeptView((most < Integer.MAX_VALUE) ? most : null, oldest.isZero() ? null : oldest.toSeconds());
	}

}
