package io.sessionkit.internal.stream;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.sessionkit.SessionKey;

/**
 * The streams that this process has written to their end and has not deleted, for each
 * session. Whoever searches a session for a stream reads all that it keeps, so only the
 * newest stay. It forgets them when the process ends: they expire then. Bounded; safe for
 * use by many threads.
 */
final class FinishedStreams {

	/** The largest number of a session. */
	static final int MOST = 8;

	private static final int REMEMBERED_SESSIONS = 10_000;

	/**
	 * A stream that is over.
	 *
	 * @param name the name of the stream
	 * @param chunks the number of its chunks
	 * @param endedAt when it ended, by {@link System#nanoTime}
	 * @param timeToLive how long its chunks live
	 */
	record Finished(String name, long chunks, long endedAt, Duration timeToLive) {

		private boolean hasExpired() {
			return Duration.ofNanos(System.nanoTime() - this.endedAt).compareTo(this.timeToLive) > 0;
		}

	}

	private final Map<SessionKey, Deque<Finished>> streams = new LinkedHashMap<>(16, 0.75F, true) {

		@Override
		protected boolean removeEldestEntry(Map.Entry<SessionKey, Deque<Finished>> eldest) {
			return size() > REMEMBERED_SESSIONS;
		}

	};

	/**
	 * Adds a stream.
	 * @return the streams that are to be deleted now, without those that have expired
	 */
	synchronized List<Finished> add(SessionKey key, Finished stream) {
		Deque<Finished> known = this.streams.computeIfAbsent(key, (session) -> new ArrayDeque<>());
		known.add(stream);
		List<Finished> tooMany = new ArrayList<>();
		while (known.size() > MOST) {
			tooMany.add(known.remove());
		}
		tooMany.removeIf(Finished::hasExpired);
		return tooMany;
	}

}
