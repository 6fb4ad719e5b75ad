package io.sessionkit.internal.lease;

import java.time.Duration;
import java.time.Instant;

import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import org.jspecify.annotations.Nullable;

/**
 * Records that are due at a time, by the clocks of the processes, and are claimed by one
 * process that moves this time.
 */
public final class DueRecords {

	/** The number of records that are read at once. */
	public static final int BATCH = 100;

	/** The longest time until a record is looked at again. */
	public static final Duration LONGEST_PAUSE = Duration.ofHours(1);

	/** So many times a pause of a second is doubled at most. */
	public static final int LARGEST_SHIFT = 12;

	private DueRecords() {
	}

	/**
	 * Returns whether a record is due. A time that is too far ahead counts as due: it
	 * comes from a clock that has jumped.
	 * @param lease how long a record may be claimed
	 */
	public static boolean isDue(Instant due, Instant now, Duration lease) {
		return !due.isAfter(now) || due.isAfter(now.plus(LONGEST_PAUSE).plus(lease));
	}

	/**
	 * Returns the pause after failed attempts: a second, then each time twice as long, up
	 * to an hour.
	 */
	public static Duration afterFailures(int attempts) {
		return atMost(Duration.ofSeconds(1L << Math.min(LARGEST_SHIFT, attempts - 1)), LONGEST_PAUSE);
	}

	/** Returns the shorter one of two durations. */
	public static Duration atMost(Duration one, Duration longest) {
		return (one.compareTo(longest) < 0) ? one : longest;
	}

	/**
	 * Replaces a record as it was read.
	 * @return the record as it is stored now; null if it was written since
	 */
	public static @Nullable SessionRecord replace(SessionStore store, SessionRecord read, String payload) {
		RecordWrite write = RecordWrite.replace(read, payload);
		return store.put(read.key(), write) ? new SessionRecord(read.key(), read.kind(), read.id(), write.next(),
				payload, read.writtenAt(), read.expiresAt()) : null;
	}

}
