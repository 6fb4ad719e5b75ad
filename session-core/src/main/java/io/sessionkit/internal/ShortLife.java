package io.sessionkit.internal;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * The life of a session that is erased when a call ends. If the process of the call was
 * killed, the session expires. Its life is longer than a call takes, since the call that
 * it ends with does not extend it.
 */
public final class ShortLife {

	private static final Duration LONGEST = Duration.ofDays(1);

	private ShortLife() {
	}

	/**
	 * Returns how long the session lives after each commit.
	 * @param configured how long sessions live otherwise; null if they do not expire
	 */
	public static Duration within(@Nullable Duration configured) {
		return (configured != null && configured.compareTo(LONGEST) < 0) ? configured : LONGEST;
	}

}
