package io.sessionkit.internal.ledger;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.sessionkit.SessionKey;
import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.codec.UnreadablePayloadException;
import io.sessionkit.codec.UnsupportedVersionException;
import io.sessionkit.internal.attribute.AttributeChange;
import io.sessionkit.internal.lease.TurnRecords;
import io.sessionkit.internal.turn.Turns;
import io.sessionkit.store.Page;
import io.sessionkit.store.RecordPage;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreUnavailableException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The tool calls that wait, run or have run, one record for each.
 * <p>
 * A record changes only by compare-and-set, on a connection of its own. A record that
 * waits for a decision lives as long as it may be decided, by the store's clock. A
 * decision that comes too late therefore finds nothing to change, no matter which clock
 * is wrong. Calls that are over move to another kind of record together with the next
 * part of the turn, so that few records wait.
 */
public final class Ledger {

	private static final Log logger = LogFactory.getLog(Ledger.class);

	/**
	 * The kind of the records that hold the tool calls of the reply that an open turn
	 * holds back.
	 */
	public static final String APPROVAL = TurnRecords.HELD_CALLS;

	/** The kind of the records that hold finished tool calls. */
	public static final String OVER = "ledger";

	/** The kind of the records that hold calls that take the effect of others back. */
	public static final String COMPENSATION = "compensation";

	private static final int BATCH = 100;

	private final SessionStore store;

	private final String kind;

	/** Returns who holds the lease under which the calls of a session are claimed. */
	private final Function<SessionKey, @Nullable String> holders;

	/**
	 * Creates the ledger of the calls that models make.
	 */
	public Ledger(Turns turns) {
		this(turns.store(), APPROVAL, turns.waitingTurns()::leaseHolder);
	}

	private Ledger(SessionStore store, String kind, Function<SessionKey, @Nullable String> holders) {
		this.store = store;
		this.kind = kind;
		this.holders = holders;
	}

	/**
	 * Creates the ledger of the calls that take the effect of others back. They are
	 * claimed under the lease of a rewind, and stay where they are when they are over.
	 */
	public static Ledger ofCompensations(Turns turns) {
		return new Ledger(turns.store(), COMPENSATION, turns.leases()::rewindHolder);
	}

	/** Returns the time of the store. */
	public Instant now() {
		return this.store.options().now();
	}

	/**
	 * Returns whether calls of this thread may be stored in a transaction of its caller.
	 */
	public boolean mayRollBack() {
		return this.store.mayRollBack();
	}

	/**
	 * Returns the write that enters a call.
	 */
	public RecordWrite enter(LedgerEntry entry, @Nullable Duration expiresAfter) {
		RecordWrite write = RecordWrite.create(this.kind, entry.approval().id(), payload(entry));
		boolean waits = entry.status() == ApprovalStatus.PROPOSED && expiresAfter != null;
		return (waits && expiresAfter != null) ? write.timeToLive(expiresAfter) : write;
	}

	/**
	 * Returns the calls of a session that are not over, and those that are over but have
	 * not been moved yet.
	 */
	public List<LedgerEntry> open(SessionKey key) {
		return read(this.store.records(key, this.kind));
	}

	public Optional<LedgerEntry> find(SessionKey key, String id) {
		return open(key).stream().filter((entry) -> entry.approval().id().equals(id)).findFirst();
	}

	/**
	 * Returns the calls of a session that have moved to those that are over; none in the
	 * ledger of the calls that take effects back, which stay where they are.
	 */
	public List<LedgerEntry> over(SessionKey key) {
		return this.kind.equals(APPROVAL) ? read(this.store.records(key, OVER)) : List.of();
	}

	/**
	 * Returns the calls in the sessions of an owner that wait for a person. A call that
	 * cannot be read here is left out, as below.
	 */
	public List<ToolApproval> pendingOf(String owner, Page page) {
		List<ToolApproval> pending = new ArrayList<>();
		long wanted = (long) page.offset() + page.limit();
		for (int offset = 0; pending.size() < wanted; offset += BATCH) {
			List<SessionRecord> records = this.store.records(owner, this.kind, new Page(offset, BATCH));
			pending.addAll(pending(records.stream().flatMap(this::readable).toList()));
			if (records.size() < BATCH) {
				break;
			}
		}
		return pending.stream().skip(page.offset()).limit(page.limit()).toList();
	}

	/**
	 * Returns the calls in the sessions of all owners that wait for a person and that the
	 * reader may see; those whose last change is oldest come first. A call that cannot be
	 * read here, since a newer version or another key has written it, is left out: one
	 * session must not take their work from all who decide.
	 */
	public List<ToolApproval> pending(Predicate<ToolApproval> shown, Page page) {
		List<ToolApproval> pending = new ArrayList<>();
		long wanted = (long) page.offset() + page.limit();
		String next = null;
		do {
			RecordPage records = this.store.oldestRecords(this.kind, next, BATCH);
			pending(records.records().stream().flatMap(this::readable).toList()).stream()
				.filter(shown)
				.forEach(pending::add);
			next = records.next();
		}
		while (next != null && pending.size() < wanted);
		return pending.stream().skip(page.offset()).limit(page.limit()).toList();
	}

	/**
	 * Returns those of the given calls that wait for a person.
	 */
	public List<ToolApproval> pending(List<LedgerEntry> entries) {
		return judged(entries).stream().map(LedgerEntry::approval).filter((call) -> call.status().isPending()).toList();
	}

	/**
	 * Returns the calls with the status that depends on who works on them: a claim whose
	 * holder is gone is uncertain.
	 */
	public List<LedgerEntry> judged(List<LedgerEntry> entries) {
		Map<SessionKey, Optional<String>> holders = new HashMap<>();
		return entries.stream().map((entry) -> {
			if (entry.status() != ApprovalStatus.CLAIMED) {
				return entry;
			}
			Optional<String> holder = holders.computeIfAbsent(entry.approval().key(),
					(key) -> Optional.ofNullable(this.holders.apply(key)));
			boolean isHeld = holder.filter((who) -> Objects.equals(who, entry.holder())).isPresent();
			return isHeld ? entry : entry.with(ApprovalStatus.UNCERTAIN);
		}).toList();
	}

	/**
	 * Changes a call if it is still as it was read. A call that has no record gets one,
	 * unless there is one by now.
	 * @return the call as it is stored; null if another writer was first, or if the time
	 * to decide is over
	 */
	public @Nullable LedgerEntry replace(LedgerEntry changed) {
		ToolApproval call = changed.approval();
		RecordWrite write = new RecordWrite(this.kind, call.id(), changed.revision(), payload(changed), null);
		return this.store.put(call.key(), write) ? changed.revision(write.next()) : null;
	}

	/**
	 * Changes a call as {@link #replace} does. If the answer of the store is lost, the
	 * call is read: nobody else makes the same change, so one that is there is this one.
	 * @throws StoreUnavailableException if the store has failed, and is not known to have
	 * the change
	 */
	@Nullable LedgerEntry replaceOrFind(LedgerEntry changed) {
		try {
			return replace(changed);
		}
		catch (StoreUnavailableException ex) {
			return unanswered(changed, ex).orElseThrow(() -> ex);
		}
	}

	private Optional<LedgerEntry> unanswered(LedgerEntry changed, StoreUnavailableException lost) {
		if (lost.isUnwritten()) {
			return Optional.empty();
		}
		try {
			return find(changed.approval().key(), changed.approval().id()).filter((now) -> isSame(now, changed));
		}
		catch (RuntimeException ex) {
			lost.addSuppressed(ex);
			return Optional.empty();
		}
	}

	private static boolean isSame(LedgerEntry stored, LedgerEntry changed) {
		return stored.status() == changed.status() && Objects.equals(stored.holder(), changed.holder())
				&& stored.approval().decisions().equals(changed.approval().decisions());
	}

	/**
	 * Claims a call for the holder of a lease, who is about to run it.
	 * @return the call as it is stored; null if another writer was first
	 * @throws StoreUnavailableException if the store has failed, and is not known to have
	 * the claim; the call must not run
	 */
	public @Nullable LedgerEntry claim(LedgerEntry entry, String holder) {
		try {
			return replaceOrFind(entry.claimed(now(), holder));
		}
		catch (StoreUnavailableException ex) {
			if (!ex.isUnwritten()) {
				// also if it was not found: the write may land behind the look
				logger.warn("It is unknown whether the claim of tool '" + entry.approval().tool() + "' on session "
						+ entry.approval().key()
						+ " is stored. If it is, the call will be uncertain although it did not run: "
						+ ex.getClass().getName());
			}
			throw ex;
		}
	}

	/** Returns whether a call waits to be decided or to be run. */
	public static boolean mayStillRun(LedgerEntry entry) {
		return entry.status() == ApprovalStatus.PROPOSED || entry.status() == ApprovalStatus.APPROVED;
	}

	/**
	 * Returns the turns of whose effects some were taken back, or may have been.
	 * @param compensations records of kind {@value #COMPENSATION}
	 * @return the ids of the turns
	 */
	public static Set<String> turnsTakenBack(List<SessionRecord> compensations, MessageCodec codec) {
		return compensations.stream()
			.map((record) -> LedgerForm.entry(record.key(), codec.decodeValues(record.key(), record.payload()),
					record.revision()))
			.filter((entry) -> entry.approval().claimedAt() != null || entry.status() == ApprovalStatus.DONE)
			.map((entry) -> entry.approval().turnId())
			.collect(Collectors.toSet());
	}

	/**
	 * Returns the writes that move calls to those that are over. They are refused if
	 * somebody has run or decided a cancelled call since it was read. What their tools
	 * have written to the attributes is stored with the turn now.
	 */
	public List<RecordWrite> closing(List<LedgerEntry> entries) {
		return closing(entries,
				(entry) -> (entry.status() == ApprovalStatus.CANCELLED) ? entry.revision() : RecordWrite.ANY);
	}

	/**
	 * Returns the same writes, which are refused if somebody has decided on any call
	 * since it was read.
	 */
	public List<RecordWrite> closingUndecided(List<LedgerEntry> entries) {
		return closing(entries, LedgerEntry::revision);
	}

	private List<RecordWrite> closing(List<LedgerEntry> entries, ToLongFunction<LedgerEntry> expected) {
		List<RecordWrite> writes = new ArrayList<>();
		for (LedgerEntry entry : entries) {
			String id = entry.approval().id();
			if (entry.revision() > 0) {
				writes.add(new RecordWrite(APPROVAL, id, expected.applyAsLong(entry), null, null));
			}
			else if (entry.status() == ApprovalStatus.EXPIRED) {
				// nobody can change it any more, and a store may keep it unseen
				writes.add(new RecordWrite(APPROVAL, id, RecordWrite.ANY, null, null));
			}
			writes.add(RecordWrite.put(OVER, id, payload(entry.attributes(AttributeChange.NONE))));
		}
		return writes;
	}

	public List<LedgerEntry> read(List<SessionRecord> records) {
		return records.stream()
			.map(this::entry)
			.sorted(Comparator.comparing((LedgerEntry entry) -> entry.approval().requestedAt())
				.thenComparing((entry) -> entry.approval().turnId())
				.thenComparingInt((entry) -> entry.approval().round())
				.thenComparingInt((entry) -> entry.approval().index()))
			.toList();
	}

	private Stream<LedgerEntry> readable(SessionRecord record) {
		try {
			return Stream.of(entry(record));
		}
		catch (UnreadablePayloadException | UnsupportedVersionException ex) {
			logger.warn("Tool call " + record.id() + " of session " + record.key()
					+ " cannot be read, so no inbox shows it: " + ex.getClass().getName());
			return Stream.empty();
		}
	}

	private LedgerEntry entry(SessionRecord record) {
		return LedgerForm.entry(record.key(), values(record), record.revision());
	}

	private Map<String, @Nullable Object> values(SessionRecord record) {
		return this.store.options().codec().decodeValues(record.key(), record.payload());
	}

	private String payload(LedgerEntry entry) {
		return this.store.options().codec().encodeValues(entry.approval().key(), LedgerForm.values(entry));
	}

}
