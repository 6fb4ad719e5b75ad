package io.sessionkit.internal.summary;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

import io.sessionkit.SessionKey;
import org.jspecify.annotations.Nullable;

/**
 * Tracks the sessions that are left alone for a while after a failure, in this process.
 * Bounded; safe for use by many threads.
 */
final class Backoff {

	private static final int REMEMBERED = 10_000;

	private static final Duration LONGEST = Duration.ofHours(1);

	private record Pause(Instant end, Duration length) {

		/**
		 * A clock that was ahead when it failed, and was set back, makes it no longer.
		 */
		boolean lasts(Instant now) {
			return now.isBefore(this.end) && !this.end.isAfter(now.plus(this.length));
		}

	}

	private final Duration first;

	private final Map<SessionKey, Pause> pauses = new LinkedHashMap<>() {

		@Override
		protected boolean removeEldestEntry(Map.Entry<SessionKey, Pause> eldest) {
			return size() > REMEMBERED;
		}

	};

	Backoff(Duration first) {
		this.first = first;
	}

	synchronized boolean isPaused(SessionKey key, Instant now) {
		Pause pause = this.pauses.get(key);
		return pause != null && pause.lasts(now);
	}

	synchronized void failed(SessionKey key, Instant now) {
		@Nullable Pause before = this.pauses.remove(key);
		Duration length = (before != null) ? before.length().multipliedBy(2) : this.first;
		Duration longest = (this.first.compareTo(LONGEST) < 0) ? LONGEST : this.first;
		length = (length.compareTo(longest) > 0) ? longest : length;
		this.pauses.put(key, new Pause(now.plus(length), length));
	}

	synchronized void succeeded(SessionKey key) {
		this.pauses.remove(key);
	}

}
