package io.sessionkit.store.redis;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

import io.sessionkit.SessionKey;
import io.sessionkit.StoreUnavailableException;
import io.sessionkit.internal.row.KeyHash;
import io.sessionkit.internal.row.RecordPlace;
import io.sessionkit.store.RecordPage;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.redis.RedisKeys.Pair;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Finds the records of all owners. If all keys are on one server, the script that writes
 * a record writes its entry too, so only records that expired are to be looked for in
 * vain. In a Cluster an entry is a hint, written before its record and removed after it.
 */
final class SharedIndex {

	private static final Log logger = LogFactory.getLog(SharedIndex.class);

	private static final String APPROVAL = "approval";

	private static final int BATCH = 200;

	private final RedisKeys keys;

	private final RedisScripts scripts;

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

	/** What was read of the index at one time, by the clock of its server. */
	private record Entries(long time, List<Entry> entries) {
	}

	/**
	 * Returns the records of a kind, those that were written longest ago first.
	 */
	RecordPage oldest(String kind, RecordPlace after, int limit) {
		List<SessionRecord> page = new ArrayList<>();
		RecordPlace place = after;
		long skip = 0;
		while (true) {
			RecordPlace from = place;
			int count = Math.min(BATCH, limit - page.size());
			Entries read = entries(kind, from.at(), skip, count);
			List<Entry> entries = read.entries().stream().filter((entry) -> entry.isAfter(from)).toList();
			List<Optional<SessionRecord>> records = records(kind, entries);
			forgetGone(kind, read.time(), entries, records);
			for (int i = 0; i < entries.size(); i++) {
				records.get(i).ifPresent(page::add);
				place = entries.get(i).place();
				if (page.size() == limit) {
					return new RecordPage(page, place.text());
				}
			}
			if (read.entries().size() < count) {
				return new RecordPage(page, null);
			}
			// as long as all are of one time, the next ones are behind those that were
			// read
			skip = entries.isEmpty() ? skip + count : 0;
		}
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
		return kind.equals(APPROVAL) ? shared : new Pair(shared.second(), shared.first());
	}

	private List<Optional<SessionRecord>> records(String kind, List<Entry> entries) {
		List<Optional<SessionRecord>> records = new ArrayList<>();
		int together = this.scripts.haveOneServer() ? Math.max(1, entries.size()) : 1;
		for (int from = 0; from < entries.size(); from += together) {
			records.addAll(recordsAtOnce(kind, entries.subList(from, Math.min(entries.size(), from + together))));
		}
		return records;
	}

	private List<Optional<SessionRecord>> recordsAtOnce(String kind, List<Entry> entries) {
		List<Pair> sessions = new ArrayList<>();
		Arguments arguments = new Arguments().with(kind);
		for (Entry entry : entries) {
			sessions.addAll(this.keys.scripts(KeyHash.of(entry.key())));
			arguments.with(entry.id());
		}
		Reply found = this.scripts.read(Script.FOUND, sessions, arguments);
		List<Optional<SessionRecord>> records = new ArrayList<>();
		for (int i = 0; i < entries.size(); i++) {
			SessionKey key = entries.get(i).key();
			records.add(found.list(i).about(key).records(key).stream().findFirst());
		}
		return records;
	}

	/**
	 * Removes the entries of records that are gone. In a Cluster a new entry stays, since
	 * its record may be about to be written.
	 */
	private void forgetGone(String kind, long time, List<Entry> entries, List<Optional<SessionRecord>> records) {
		long upTo = this.scripts.haveOneServer() ? time : time - OwnerIndex.lag();
		Arguments gone = new Arguments().with(upTo);
		boolean any = false;
		for (int i = 0; i < entries.size(); i++) {
			if (records.get(i).isEmpty() && entries.get(i).at() <= upTo) {
				gone.with(number(kind)).with(false).with(entries.get(i).text());
				any = true;
			}
		}
		if (any) {
			this.scripts.repeat(Script.SHARE, this.keys.shared(), gone);
		}
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
		return kind.equals(APPROVAL) ? 1 : 2;
	}

}
