package io.sessionkit.internal.ledger;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.sessionkit.SessionKey;
import io.sessionkit.approval.ApprovalNotice;
import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.codec.UnreadablePayloadException;
import io.sessionkit.codec.UnsupportedVersionException;
import io.sessionkit.internal.lease.DueRecords;
import io.sessionkit.store.RecordPage;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreUnavailableException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The notices that are to be delivered, one record for each pause. It is written with the
 * pause and deleted when a listener has returned. Whoever delivers it moves its time by
 * compare-and-set first, so it is one process at a time, and another one follows if that
 * process is gone.
 */
public final class Notices {

	/** The kind of the records. */
	public static final String NOTICE = SessionStore.NOTICE;

	/**
	 * Marks the values of the notices of {@link Continuations}, which have the same kind.
	 */
	static final String CONTINUES = "continues";

	private static final int VERSION = 1;

	private static final Log logger = LogFactory.getLog(Notices.class);

	private final SessionStore store;

	public Notices(SessionStore store) {
		this.store = store;
	}

	/**
	 * A notice to deliver.
	 *
	 * @param notice the notice
	 * @param attempts how often it was claimed
	 * @param due when it is to be tried next, by the clocks of the processes
	 * @param record its record
	 */
	public record Outgoing(ApprovalNotice notice, int attempts, Instant due, SessionRecord record) {

		/**
		 * Returns whether the notice may be claimed. One that nobody has claimed yet may,
		 * whatever the clock of the process was that stored it.
		 */
		public boolean isDue(Instant now, Duration lease) {
			return this.attempts == 0 || DueRecords.isDue(this.due, now, lease);
		}

	}

	/**
	 * Returns the write that announces the calls of a reply that wait.
	 */
	static RecordWrite announcing(List<LedgerEntry> entries, @Nullable Duration expiresAfter, MessageCodec codec) {
		List<ToolApproval> waiting = entries.stream()
			.filter((entry) -> entry.status() == ApprovalStatus.PROPOSED)
			.map(LedgerEntry::approval)
			.toList();
		ToolApproval first = waiting.get(0);
		Instant requestedAt = first.requestedAt();
		ApprovalNotice notice = new ApprovalNotice(first.id(), first.key(), first.turnId(),
				waiting.stream().map(ToolApproval::id).toList(), waiting.stream().map(ToolApproval::tool).toList(),
				requestedAt, (expiresAfter != null) ? requestedAt.plus(expiresAfter) : null);
		return RecordWrite.put(NOTICE, notice.id(), payload(notice, 0, requestedAt, codec));
	}

	/** Returns the time of the store. */
	public Instant now() {
		return this.store.options().now();
	}

	/**
	 * Checks that the store finds the notices of all owners. A store that cannot be
	 * reached may do so later.
	 */
	public void checkListed() {
		try {
			this.store.oldestRecords(NOTICE, null, 1);
		}
		catch (StoreUnavailableException ex) {
			logger.debug("The store cannot be reached to look for notices. This is tried again.");
		}
	}

	/**
	 * Returns the next notices of all owners.
	 * @param after the place behind those that were read; null to begin
	 */
	public RecordPage page(@Nullable String after) {
		return this.store.oldestRecords(NOTICE, after, DueRecords.BATCH);
	}

	/** Returns the record of a notice if it is there. */
	public Optional<SessionRecord> find(SessionKey key, String id) {
		return this.store.record(key, NOTICE, id);
	}

	/**
	 * Reads a notice.
	 * @return the notice; null if it is one of {@link Continuations}
	 * @throws UnreadablePayloadException if it is not a notice
	 * @throws UnsupportedVersionException if it is one of a newer version
	 */
	public @Nullable Outgoing read(SessionRecord record) {
		SessionKey key = record.key();
		Map<?, ?> values = this.store.options().codec().decodeValues(key, record.payload());
		if (values.containsKey(CONTINUES)) {
			return null;
		}
		if (values.get("version") instanceof Integer version && version > VERSION) {
			throw new UnsupportedVersionException("Notice " + record.id() + " of session " + key
					+ " was written in version " + version + " of its form; this one reads up to " + VERSION + ".");
		}
		try {
			ApprovalNotice notice = new ApprovalNotice(record.id(), key, (String) present(values, "turn"),
					texts(values.get("calls")), texts(values.get("tools")), (Instant) present(values, "requestedAt"),
					(Instant) values.get("expiresAt"));
			return new Outgoing(notice, (Integer) present(values, "attempts"), (Instant) present(values, "due"),
					record);
		}
		catch (ClassCastException | NullPointerException ex) {
			throw new UnreadablePayloadException("Notice " + record.id() + " of session " + key + " cannot be read.",
					null);
		}
	}

	private static Object present(Map<?, ?> values, String name) {
		Object value = values.get(name);
		if (value == null) {
			throw new ClassCastException(name);
		}
		return value;
	}

	private static List<String> texts(@Nullable Object list) {
		return (list instanceof List<?> all) ? all.stream().map(String.class::cast).toList() : List.of();
	}

	/**
	 * Claims a notice until a time.
	 * @return the claimed notice; null if another process was first
	 */
	public @Nullable Outgoing claim(Outgoing seen, Instant until) {
		return replace(seen, seen.attempts() + 1, until);
	}

	/**
	 * Gives a claimed notice back, to be tried again: after a second, then each time
	 * after twice as long, up to an hour.
	 */
	public void retry(Outgoing claimed) {
		replace(claimed, claimed.attempts(), now().plus(DueRecords.afterFailures(claimed.attempts())));
	}

	private @Nullable Outgoing replace(Outgoing seen, int attempts, Instant due) {
		String payload = payload(seen.notice(), attempts, due, this.store.options().codec());
		SessionRecord replaced = DueRecords.replace(this.store, seen.record(), payload);
		return (replaced != null) ? new Outgoing(seen.notice(), attempts, due, replaced) : null;
	}

	/**
	 * Removes a notice, unless another process has claimed it since.
	 */
	public void remove(Outgoing seen) {
		remove(seen, seen.record().revision());
	}

	/**
	 * Removes a notice that was delivered, also if another process has claimed it since
	 * because that took so long.
	 */
	public void delivered(Outgoing seen) {
		remove(seen, RecordWrite.ANY);
	}

	private void remove(Outgoing seen, long expected) {
		SessionRecord record = seen.record();
		this.store.put(record.key(), new RecordWrite(NOTICE, record.id(), expected, null, null));
	}

	private static String payload(ApprovalNotice notice, int attempts, Instant due, MessageCodec codec) {
		Map<String, Object> values = new HashMap<>();
		values.put("version", VERSION);
		values.put("turn", notice.turnId());
		values.put("calls", notice.approvalIds());
		values.put("tools", notice.tools());
		values.put("requestedAt", notice.requestedAt());
		values.put("attempts", attempts);
		values.put("due", due);
		if (notice.expiresAt() != null) {
			values.put("expiresAt", notice.expiresAt());
		}
		return codec.encodeValues(notice.key(), values);
	}

}
