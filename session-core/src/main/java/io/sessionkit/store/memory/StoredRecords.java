package io.sessionkit.store.memory;

import java.time.Instant;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

import io.sessionkit.SessionKey;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import org.jspecify.annotations.Nullable;

/**
 * The records of one session. Guarded by the lock of its session.
 */
final class StoredRecords {

	private final SessionKey key;

	private final LongSupplier stamps;

	/** The records by kind, then by id. */
	private final Map<String, NavigableMap<String, Stamped>> kinds = new TreeMap<>();

	StoredRecords(SessionKey key, LongSupplier stamps) {
		this.key = key;
		this.stamps = stamps;
	}

	boolean isAsExpected(RecordWrite write, Instant now) {
		SessionRecord there = find(write.kind(), write.id(), now);
		return write.expected() == RecordWrite.ANY || write.expected() == ((there != null) ? there.revision() : 0);
	}

	void write(RecordWrite write, Instant now) {
		NavigableMap<String, Stamped> records = this.kinds.computeIfAbsent(write.kind(), (kind) -> new TreeMap<>());
		if (write.payload() == null) {
			records.remove(write.id());
			return;
		}
		Stamped there = stamped(write.kind(), write.id(), now);
		Instant expiresAt = (write.timeToLive() != null) ? now.plus(write.timeToLive()) : null;
		records.put(write.id(),
				new Stamped(new SessionRecord(this.key, write.kind(), write.id(),
						(there != null) ? there.record().revision() + 1 : write.first(), write.payload(), now,
						expiresAt), this.stamps.getAsLong(), (there != null) ? there.covers() : 0));
	}

	@Nullable SessionRecord find(String kind, String id, Instant now) {
		Stamped record = stamped(kind, id, now);
		return (record != null) ? record.record() : null;
	}

	private @Nullable Stamped stamped(String kind, String id, Instant now) {
		Stamped record = this.kinds.getOrDefault(kind, new TreeMap<>()).get(id);
		return (record != null && record.isAlive(now)) ? record : null;
	}

	void restore(SessionRecord record, long covers) {
		this.kinds.computeIfAbsent(record.kind(), (kind) -> new TreeMap<>())
			.put(record.id(), new Stamped(record, this.stamps.getAsLong(), covers));
	}

	/**
	 * Notes that a summary covers the turns up to this one, instead of any that did so.
	 */
	void cover(long turn, String id) {
		this.kinds.getOrDefault(SessionStore.SUMMARY, new TreeMap<>())
			.replaceAll((each, record) -> each.equals(id) ? record.covering(turn)
					: (record.covers() == turn) ? record.covering(0) : record);
	}

	/**
	 * Returns the summaries that are in force on some path: those that cover most come
	 * first.
	 */
	List<Stamped> summaries(Instant now) {
		return all(SessionStore.SUMMARY, now).stream()
			.filter((record) -> record.covers() > 0)
			.sorted(Comparator.comparingLong(Stamped::covers).reversed())
			.toList();
	}

	/** Returns the summaries on the path of a turn, the newest first. */
	Stream<Stamped> summariesUpTo(TurnTree tree, long number, Instant now) {
		return summaries(now).stream().filter((summary) -> tree.isOnPath(number, summary.covers()));
	}

	/**
	 * Deletes records that have expired.
	 * @return how many were deleted
	 */
	int deleteExpired(Instant now, int limit) {
		int deleted = 0;
		for (NavigableMap<String, Stamped> records : this.kinds.values()) {
			Iterator<Stamped> each = records.values().iterator();
			while (deleted < limit && each.hasNext()) {
				if (!each.next().isAlive(now)) {
					each.remove();
					deleted++;
				}
			}
		}
		return deleted;
	}

	/**
	 * Returns the records of all kinds.
	 */
	List<SessionRecord> all(Instant now) {
		return this.kinds.keySet().stream().flatMap((kind) -> all(kind, now).stream()).map(Stamped::record).toList();
	}

	/**
	 * Returns the records of a kind, by id.
	 */
	List<Stamped> all(String kind, Instant now) {
		return this.kinds.getOrDefault(kind, new TreeMap<>())
			.values()
			.stream()
			.filter((record) -> record.isAlive(now))
			.toList();
	}

	/**
	 * A record and the position of its last write among all writes of the store.
	 *
	 * @param record the record
	 * @param stamp greater than that of every earlier write
	 * @param covers the last turn that it covers, if it is a summary that the header has
	 * named; 0 otherwise
	 */
	record Stamped(SessionRecord record, long stamp, long covers) {

		Stamped covering(long turn) {
			return new Stamped(this.record, this.stamp, turn);
		}

		Instant writtenAt() {
			return this.record.writtenAt();
		}

		boolean isAlive(Instant now) {
			Instant expiresAt = this.record.expiresAt();
			return expiresAt == null || expiresAt.isAfter(now);
		}

	}

}
