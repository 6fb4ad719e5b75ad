package io.sessionkit.internal.ledger;

import java.util.Optional;
import java.util.function.Predicate;

import io.sessionkit.SessionKey;
import io.sessionkit.store.RecordPage;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreUnavailableException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The records of notices in a store, whichever notices they are.
 */
final class NoticeRecords {

	/** The number of records that are read at once. */
	private static final int BATCH = 100;

	private static final Log logger = LogFactory.getLog(NoticeRecords.class);

	private final SessionStore store;

	NoticeRecords(SessionStore store) {
		this.store = store;
	}

	/**
	 * Checks that the store finds the notices of all owners. A store that cannot be
	 * reached may do so later.
	 */
	void checkListed() {
		try {
			this.store.oldestRecords(Notices.NOTICE, null, 1);
		}
		catch (StoreUnavailableException ex) {
			logger.debug("The store cannot be reached to look for notices. This is tried again.");
		}
	}

	/**
	 * Passes the records of all owners to the work, the oldest first.
	 * @param work returns whether it takes more
	 */
	void each(Predicate<SessionRecord> work) {
		String next = null;
		do {
			RecordPage page = this.store.oldestRecords(Notices.NOTICE, next, BATCH);
			for (SessionRecord record : page.records()) {
				if (!work.test(record)) {
					return;
				}
			}
			next = page.next();
		}
		while (next != null);
	}

	/** Returns a record if it is there. */
	Optional<SessionRecord> find(SessionKey key, String id) {
		return this.store.record(key, Notices.NOTICE, id);
	}

	/**
	 * Replaces a record as it was read.
	 * @return the record as it is stored now; null if it was written since
	 */
	@Nullable SessionRecord replace(SessionRecord read, String payload) {
		RecordWrite write = RecordWrite.replace(read, payload);
		return this.store.put(read.key(), write) ? new SessionRecord(read.key(), read.kind(), read.id(), write.next(),
				payload, read.writtenAt(), read.expiresAt()) : null;
	}

	/** Removes a record, unless it was written since it was read. */
	void remove(SessionRecord read) {
		remove(read, read.revision());
	}

	/** Removes a record, also if it was written since it was read. */
	void removeAnyway(SessionRecord read) {
		remove(read, RecordWrite.ANY);
	}

	private void remove(SessionRecord read, long expected) {
		this.store.put(read.key(), new RecordWrite(read.kind(), read.id(), expected, null, null));
	}

}
