package io.sessionkit.internal.ledger;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

import io.sessionkit.SessionKey;
import io.sessionkit.approval.ApprovalNotice;
import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.codec.UnreadablePayloadException;
import io.sessionkit.codec.UnsupportedVersionException;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import org.jspecify.annotations.Nullable;

/**
 * The notices that are to be delivered, one record for each pause. It is written with the
 * pause and deleted when a listener has returned. {@link Delivery} says who delivers it.
 */
public final class Notices implements Delivery.Stored<Notices.Outgoing> {

	/** The kind of the records. */
	public static final String NOTICE = SessionStore.NOTICE;

	/**
	 * Marks the values of the notices of {@link Continuations}, which have the same kind.
	 */
	static final String CONTINUES = "continues";

	private static final int VERSION = 1;

	private final SessionStore store;

	private final NoticeRecords records;

	public Notices(SessionStore store) {
		this.store = store;
		this.records = new NoticeRecords(store);
	}

	/**
	 * A notice to deliver.
	 *
	 * @param notice the notice
	 * @param attempts how often it was claimed
	 * @param due when it is to be tried next, by the clocks of the processes
	 * @param record its record
	 */
	public record Outgoing(ApprovalNotice notice, int attempts, Instant due,
			SessionRecord record) implements DueNotice {

		/**
		 * A notice that nobody has claimed yet is due, whatever the clock of the process
		 * was that stored it.
		 */
		@Override
		public boolean isDue(Instant now, Duration lease) {
			return this.attempts == 0 || DueNotice.super.isDue(now, lease);
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

	@Override
	public Instant now() {
		return this.store.options().now();
	}

	/**
	 * Checks that the store finds the notices of all owners. A store that cannot be
	 * reached may do so later.
	 */
	public void checkListed() {
		this.records.checkListed();
	}

	/**
	 * Passes the records of the notices of all owners to the work, the oldest first.
	 * @param work returns whether it takes more
	 */
	public void each(Predicate<SessionRecord> work) {
		this.records.each(work);
	}

	/** Returns the record of a notice if it is there. */
	public Optional<SessionRecord> find(SessionKey key, String id) {
		return this.records.find(key, id);
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

	@Override
	public @Nullable Outgoing replace(Outgoing seen, int attempts, Instant due) {
		String payload = payload(seen.notice(), attempts, due, this.store.options().codec());
		SessionRecord replaced = this.records.replace(seen.record(), payload);
		return (replaced != null) ? new Outgoing(seen.notice(), attempts, due, replaced) : null;
	}

	@Override
	public void remove(Outgoing seen) {
		this.records.remove(seen.record());
	}

	/**
	 * Removes a notice that was delivered, also if another process has claimed it since
	 * because that took so long.
	 */
	public void delivered(Outgoing seen) {
		this.records.removeAnyway(seen.record());
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
