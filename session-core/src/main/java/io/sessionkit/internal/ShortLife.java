package io.sessionkit.internal;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * The time that a session lives which is erased with a call, in case nobody is there to
 * erase it.
 */
public final class ShortLife {

	private static final Duration LONGEST = Duration.ofHours(1);

	private ShortLife() {
	}

	/**
	 * Returns how long the session lives after each write.
	 * @param configured how long sessions live otherwise; null if they do not expire
	 */
	public static Duration within(@Nullable Duration configured) {
		return (configured != null && configured.compareTo(LONGEST) < 0) ? configured : LONGEST;
	}

}
