package io.sessionkit.store.redis;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

import io.sessionkit.SessionKey;
import io.sessionkit.internal.row.KeyHash;
import io.sessionkit.internal.row.RecordPlace;
import io.sessionkit.store.RecordPage;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.redis.RedisKeys.Pair;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Finds the records of all owners. If all keys are on one server, the script that writes
 * a record writes its entry too, so only records that expired are to be looked for in
 * vain. In a Cluster an entry is a hint, written before its record and removed after it.
 * Entries of records that are gone are removed by those who read them, and by
 * {@link #sweep}. Safe for use by many threads.
 */
final class SharedIndex {

	private static final Log logger = LogFactory.getLog(SharedIndex.class);

	private static final int BATCH = 200;

	private final RedisKeys keys;

	private final RedisScripts scripts;

	/** The place at which the sweep of a kind continues. */
	private final Map<String, RecordPlace> swept = new ConcurrentHashMap<>();

	SharedIndex(RedisKeys keys, RedisScripts scripts) {
		this.keys = keys;
		this.scripts = scripts;
	}

	/**
	 * An entry of the index.
	 *
	 * @param text the entry as it is stored
	 * @param at its time
	 */
	private record Entry(String text, long at) {

		static String text(SessionKey key, String id) {
			return key.owner() + '\0' + key.id() + '\0' + id;
		}

		SessionKey key() {
			int owner = this.text.indexOf(0);
			return SessionKey.of(this.text.substring(0, owner),
					this.text.substring(owner + 1, this.text.lastIndexOf(0)));
		}

		String id() {
			return this.text.substring(this.text.lastIndexOf(0) + 1);
		}

		/** The server sorts entries of one time by their bytes. */
		boolean isAfter(RecordPlace place) {
			return this.at > place.at() || Arrays.compareUnsigned(this.text.getBytes(StandardCharsets.UTF_8),
					place.tie().getBytes(StandardCharsets.UTF_8)) > 0;
		}

		RecordPlace place() {
			return new RecordPlace(this.at, this.text);
		}

	}

	/** A part of the index as it was at one time, by the clock of its server. */
	private record Entries(long time, List<Entry> entries) {
	}

	/**
	 * The end to which an entry leads.
	 *
	 * @param entry the entry
	 * @param record its record; null if there is none, or its server cannot be reached
	 * @param failure why its server cannot be reached; null if it can
	 */
	private record Found(Entry entry, @Nullable SessionRecord record, @Nullable StoreUnavailableException failure) {

		boolean isGone() {
			return this.record == null && this.failure == null;
		}

	}

	/**
	 * Returns the records of a kind, those that were written longest ago first. In a
	 * Cluster, records whose server cannot be reached are left out.
	 * @throws StoreUnavailableException if the index cannot be read, or none of the
	 * records
	 */
	RecordPage oldest(String kind, RecordPlace after, int limit) {
		Reading page = new Reading(kind, after, limit);
		while (!page.isOver()) {
			page.readMore();
		}
		return page.read();
	}

	/** A page that is being read. */
	private final class Reading {

		private final String kind;

		private final int limit;

		private final List<SessionRecord> records = new ArrayList<>();

		/** The place of the last entry that was read. */
		private RecordPlace place;

		/** The number of entries of the time of this place that were read. */
		private long skip;

		private boolean atEnd;

		private @Nullable StoreUnavailableException failure;

		Reading(String kind, RecordPlace after, int limit) {
			this.kind = kind;
			this.place = after;
			this.limit = limit;
		}

		boolean isOver() {
			return this.atEnd || isFull();
		}

		private boolean isFull() {
			return this.records.size() == this.limit;
		}

		/** Reads entries of which none is too many if all have records. */
		void readMore() {
			int count = Math.min(BATCH, this.limit - this.records.size());
			Entries read = entries(this.kind, this.place.at(), this.skip, count);
			List<Entry> entries = read.entries().stream().filter((entry) -> entry.isAfter(this.place)).toList();
			List<Found> found = find(this.kind, entries);
			forgetIfPossible(this.kind, read.time(), found);
			found.forEach(this::add);
			this.atEnd = read.entries().size() < count;
			// as long as all are of one time, the next ones are behind those that were
			// read
			this.skip = entries.isEmpty() ? this.skip + count : 0;
		}

		private void add(Found found) {
			this.failure = (found.failure() != null) ? found.failure() : this.failure;
			if (found.record() != null) {
				this.records.add(found.record());
			}
			this.place = found.entry().place();
		}

		RecordPage read() {
			if (this.records.isEmpty() && this.failure != null) {
				throw this.failure;
			}
			return new RecordPage(this.records, isFull() ? this.place.text() : null);
		}

	}

	/**
	 * Removes entries whose records are gone, among the next few hundred of each kind. A
	 * later call continues there, and begins anew after the last entry.
	 * @param limit how many to remove at most
	 * @return how many were removed
	 */
	int sweep(int limit) {
		int removed = 0;
		for (String kind : SessionStore.SHARED_KINDS) {
			removed += (removed < limit) ? sweep(kind, Math.min(BATCH, limit - removed)) : 0;
		}
		return removed;
	}

	private int sweep(String kind, int count) {
		RecordPlace from = this.swept.getOrDefault(kind, RecordPlace.BEGINNING);
		Entries read = entries(kind, from.at(), 0, count);
		int removed = forgetGone(kind, read.time(), find(kind, read.entries()));
		if (read.entries().size() < count) {
			this.swept.remove(kind);
		}
		else {
			RecordPlace last = read.entries().get(count - 1).place();
			// more entries of one time than are read together must not hold the sweep up
			this.swept.put(kind, (last.at() > from.at()) ? last : new RecordPlace(last.at() + 1, ""));
		}
		return removed;
	}

	private Entries entries(String kind, long from, long skip, int count) {
		Reply reply = this.scripts.read(Script.OLDEST, List.of(first(kind)),
				new Arguments().with(from).with(skip).with(count));
		List<Entry> entries = new ArrayList<>();
		for (int i = 1; i < reply.size(); i += 2) {
			entries.add(new Entry(reply.requiredText(i), reply.number(i + 1)));
		}
		return new Entries(reply.number(0), entries);
	}

	private Pair first(String kind) {
		Pair shared = this.keys.shared();
		return kind.equals(SessionStore.APPROVAL) ? shared : new Pair(shared.second(), shared.first());
	}

	private List<Found> find(String kind, List<Entry> entries) {
		if (this.scripts.haveOneServer()) {
			return entries.isEmpty() ? List.of() : findAtOnce(kind, entries);
		}
		return entries.stream().map((entry) -> findAlone(kind, entry)).toList();
	}

	private Found findAlone(String kind, Entry entry) {
		try {
			return findAtOnce(kind, List.of(entry)).get(0);
		}
		catch (StoreUnavailableException ex) {
			logger.debug("A record of session " + entry.key() + " is left out of those of all owners: "
					+ ex.getClass().getName());
			return new Found(entry, null, ex);
		}
	}

	private List<Found> findAtOnce(String kind, List<Entry> entries) {
		List<Pair> sessions = new ArrayList<>();
		Arguments arguments = new Arguments().with(kind);
		for (Entry entry : entries) {
			sessions.addAll(this.keys.scripts(KeyHash.of(entry.key())));
			arguments.with(entry.id());
		}
		Reply reply = this.scripts.read(Script.FOUND, sessions, arguments);
		List<Found> found = new ArrayList<>();
		for (int i = 0; i < entries.size(); i++) {
			Entry entry = entries.get(i);
			List<SessionRecord> records = reply.list(i).about(entry.key()).records(entry.key());
			found.add(new Found(entry, records.isEmpty() ? null : records.get(0), null));
		}
		return found;
	}

	/** A read is answered also if the server may not write. */
	private void forgetIfPossible(String kind, long time, List<Found> found) {
		try {
			forgetGone(kind, time, found);
		}
		catch (StoreUnavailableException ex) {
			logger.debug("Entries of records that are gone stay until they are read again: " + ex.getClass().getName());
		}
	}

	/**
	 * Removes the entries of records that are gone. In a Cluster a new entry stays, since
	 * its record may be about to be written.
	 * @return how many entries are to be removed
	 */
	private int forgetGone(String kind, long time, List<Found> found) {
		long upTo = this.scripts.haveOneServer() ? time : time - OwnerIndex.lag();
		List<Entry> gone = found.stream()
			.filter(Found::isGone)
			.map(Found::entry)
			.filter((entry) -> entry.at() <= upTo)
			.toList();
		if (!gone.isEmpty()) {
			Arguments removed = new Arguments().with(upTo);
			gone.forEach((entry) -> removed.with(number(kind)).with(false).with(entry.text()));
			this.scripts.repeat(Script.SHARE, this.keys.shared(), removed);
		}
		return gone.size();
	}

	/**
	 * Returns the deletions of all records of a session that have entries, in a Cluster:
	 * owner and id of an erased session are not to stay until somebody reads them.
	 * @param records returns the records of a kind
	 */
	List<RecordWrite> deletions(SessionKey key, Function<String, List<SessionRecord>> records) {
		if (this.scripts.haveOneServer()) {
			return List.of();
		}
		return SessionStore.SHARED_KINDS.stream()
			.flatMap((kind) -> records.apply(kind).stream())
			.map((record) -> new RecordWrite(record.kind(), record.id(), RecordWrite.ANY, null, null))
			.toList();
	}

	/**
	 * Adds the entries of records that are about to be written, in a Cluster.
	 * @return the time, by the clock of the index; 0 if there is nothing to add or to
	 * remove
	 */
	long announce(SessionKey key, Collection<RecordWrite> writes) {
		if (this.scripts.haveOneServer() || writes.stream().noneMatch(SharedIndex::isShared)) {
			return 0;
		}
		Arguments added = new Arguments().with(0);
		writes.stream()
			.filter((write) -> isShared(write) && write.payload() != null)
			.forEach((write) -> added.with(number(write.kind())).with(true).with(Entry.text(key, write.id())));
		try {
			return this.scripts.repeat(Script.SHARE, this.keys.shared(), added).number(0);
		}
		catch (StoreUnavailableException ex) {
			if (writes.stream().anyMatch((write) -> isShared(write) && write.payload() != null)) {
				throw ex;
			}
			logger.debug("Entries of records that are deleted stay until they are read: " + ex.getClass().getName());
			return 0;
		}
	}

	/**
	 * Removes the entries of records that were deleted, in a Cluster, unless they were
	 * announced again since. If their server cannot be reached, a reader removes them:
	 * the write that deleted the records is done.
	 */
	void withdraw(SessionKey key, Collection<RecordWrite> writes, long announced) {
		List<RecordWrite> deleted = writes.stream()
			.filter((write) -> isShared(write) && write.payload() == null)
			.toList();
		if (announced == 0 || deleted.isEmpty()) {
			return;
		}
		Arguments removed = new Arguments().with(announced);
		deleted.forEach((write) -> removed.with(number(write.kind())).with(false).with(Entry.text(key, write.id())));
		try {
			this.scripts.repeat(Script.SHARE, this.keys.shared(), removed);
		}
		catch (StoreUnavailableException ex) {
			logger.debug("Entries of deleted records stay until they are read: " + ex.getClass().getName());
		}
	}

	private static boolean isShared(RecordWrite write) {
		return SessionStore.SHARED_KINDS.contains(write.kind());
	}

	private static long number(String kind) {
		return kind.equals(SessionStore.APPROVAL) ? 1 : 2;
	}

}
