package io.sessionkit.internal.ledger;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import java.util.function.Predicate;

import io.sessionkit.SessionKey;
import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.StandingDecision;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.codec.UnreadablePayloadException;
import io.sessionkit.codec.UnsupportedVersionException;
import io.sessionkit.internal.turn.Turns;
import io.sessionkit.internal.turn.WaitingTurns;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The notices that a turn is to be continued, one record for each turn. It is written
 * before a decision, and with a pause whose calls can expire, so that a process that dies
 * after the decision loses nothing. What is to be done is always read from the turn
 * itself: a notice that is there too early, too late or twice does no harm.
 * <p>
 * They are of the same kind as {@link Notices}, since a store keeps an index of few
 * kinds. Versions that know only those leave them alone.
 */
public final class Continuations implements Delivery.Stored<Continuations.Task> {

	private static final int VERSION = 2;

	/** The time in which a decision is expected behind its notice. */
	private static final Duration GRACE = Duration.ofSeconds(5);

	private static final Log logger = LogFactory.getLog(Continuations.class);

	private final Turns turns;

	private final WaitingTurns waitingTurns;

	private final Ledger ledger;

	private final StandingDecisions standing;

	private final SessionStore store;

	private final NoticeRecords records;

	private final boolean stored;

	private final List<BiConsumer<SessionKey, String>> runners = new CopyOnWriteArrayList<>();

	/**
	 * Creates the notices of the turns of some sessions.
	 * @param stored whether decisions and pauses of this process are stored with them
	 */
	public Continuations(Turns turns, Ledger ledger, boolean stored) {
		this.stored = stored;
		this.turns = turns;
		this.waitingTurns = turns.waitingTurns();
		this.ledger = ledger;
		this.store = turns.store();
		this.records = new NoticeRecords(this.store);
		this.standing = new StandingDecisions(this.store);
	}

	/**
	 * A notice.
	 *
	 * @param key the session
	 * @param turnId the turn
	 * @param attempts how often it was claimed to continue the turn
	 * @param looks how often its turn was found waiting
	 * @param due when it is to be looked at next, by the clocks of the processes
	 * @param record its record
	 */
	public record Task(SessionKey key, String turnId, int attempts, int looks, Instant due,
			SessionRecord record) implements DueNotice {
	}

	/** The state of a turn, which says what to do for it. */
	public enum State {

		/** Nothing: it is no longer open. */
		OVER,

		/** Nothing now: a call works on it. */
		AT_WORK,

		/** Nothing now: it waits for a person. */
		WAITS,

		/** It is to be continued. */
		DECIDED

	}

	/**
	 * A turn as it was found.
	 *
	 * @param state what there is to do
	 * @param calls the calls that it holds back
	 * @param undecided those that wait for a person
	 * @param parameters the kept parameters of the turn
	 */
	public record Situation(State state, List<ToolApproval> calls, List<ToolApproval> undecided,
			Map<String, Object> parameters) {

		private static Situation without(State state) {
			return new Situation(state, List.of(), List.of(), Map.of());
		}

	}

	// notices

	/**
	 * Returns the write of a notice that is due when calls that are made now have
	 * expired.
	 */
	static RecordWrite afterExpiry(SessionKey key, String turnId, Duration expiresAfter, StoreOptions options) {
		Instant due = options.now().plus(Delivery.shorter(expiresAfter.plusSeconds(1), Delivery.LONGEST_PAUSE));
		return RecordWrite.put(Notices.NOTICE, turnId, payload(key, 0, Delivery.MOST_DOUBLINGS, due, options));
	}

	/**
	 * Stores the notice that the turn of a call may have to be continued, before a
	 * decision on the call is.
	 */
	public void announce(ToolApproval call) {
		StoreOptions options = this.store.options();
		this.store.put(call.key(), RecordWrite.put(Notices.NOTICE, call.turnId(),
				payload(call.key(), 0, 0, options.now().plus(GRACE), options)));
	}

	private static String payload(SessionKey key, int attempts, int looks, Instant due, StoreOptions options) {
		Map<String, Object> values = new HashMap<>();
		values.put("version", VERSION);
		values.put(Notices.CONTINUES, true);
		values.put("attempts", attempts);
		values.put("looks", looks);
		values.put("due", due);
		return options.codec().encodeValues(key, values);
	}

	/** Returns whether decisions and pauses of this process are stored with notices. */
	public boolean areStored() {
		return this.stored;
	}

	/**
	 * Checks that the store finds the notices of all owners. A store that cannot be
	 * reached may do so later.
	 */
	public void checkListed() {
		this.records.checkListed();
	}

	/**
	 * Passes the notices of all owners to the work, the oldest first.
	 * @param work returns whether it takes more
	 */
	public void each(Predicate<Task> work) {
		this.records.each((record) -> {
			Task task = read(record);
			return task == null || work.test(task);
		});
	}

	/**
	 * Returns the notice of a turn, whether it is due or not; null if there is none.
	 */
	public @Nullable Task find(SessionKey key, String turnId) {
		return this.records.find(key, turnId).map(this::read).orElse(null);
	}

	/**
	 * Returns null for what is no such notice. One that this version cannot read waits
	 * for one that can.
	 */
	private @Nullable Task read(SessionRecord record) {
		try {
			Map<?, ?> values = this.store.options().codec().decodeValues(record.key(), record.payload());
			if (values.containsKey(Notices.CONTINUES) && values.get("version") instanceof Integer version
					&& version == VERSION && values.get("attempts") instanceof Integer attempts
					&& values.get("looks") instanceof Integer looks && values.get("due") instanceof Instant due) {
				return new Task(record.key(), record.id(), attempts, looks, due, record);
			}
		}
		catch (UnreadablePayloadException | UnsupportedVersionException ex) {
			logger.debug("Notice " + record.id() + " of session " + record.key() + " cannot be read here: "
					+ ex.getClass().getName());
		}
		return null;
	}

	// claims and their ends

	@Override
	public Instant now() {
		return this.store.options().now();
	}

	/**
	 * Has a turn looked at again that waits for a person: soon, since its decision may be
	 * on the way, then each time after twice as long, up to an hour. The next decision
	 * brings that forward, and so does the time at which the calls expire.
	 */
	public void waits(Task claimed, List<ToolApproval> undecided) {
		Duration pause = Delivery.shorter(untilExpiry(undecided), Delivery.doubled(GRACE, claimed.looks()));
		replace(claimed, claimed.attempts() - 1, Math.min(Delivery.MOST_DOUBLINGS, claimed.looks() + 1),
				now().plus(pause));
	}

	private Duration untilExpiry(List<ToolApproval> undecided) {
		Instant last = Instant.MIN;
		for (ToolApproval call : undecided) {
			Instant expiresAt = (call.status() == ApprovalStatus.PROPOSED) ? call.expiresAt() : null;
			if (expiresAt == null) {
				return Delivery.LONGEST_PAUSE;
			}
			last = expiresAt.isAfter(last) ? expiresAt : last;
		}
		Duration left = Duration.between(now(), last);
		return (left.isNegative() ? Duration.ZERO : left).plusSeconds(1);
	}

	@Override
	public @Nullable Task replace(Task seen, int attempts, Instant due) {
		return replace(seen, attempts, seen.looks(), due);
	}

	private @Nullable Task replace(Task seen, int attempts, int looks, Instant due) {
		String payload = payload(seen.key(), attempts, looks, due, this.store.options());
		SessionRecord replaced = this.records.replace(seen.record(), payload);
		return (replaced != null) ? new Task(seen.key(), seen.turnId(), attempts, looks, due, replaced) : null;
	}

	@Override
	public void remove(Task seen) {
		this.records.remove(seen.record());
	}

	// the turn

	/**
	 * Looks what there is to do for the turn of a notice.
	 */
	public Situation situation(Task task) {
		return this.waitingTurns.look(task.key(), task.turnId())
			.map((seen) -> situation(task.key(), seen))
			.orElseGet(() -> Situation.without(State.OVER));
	}

	private Situation situation(SessionKey key, WaitingTurns.Seen seen) {
		if (seen.isAtWork()) {
			return Situation.without(State.AT_WORK);
		}
		List<LedgerEntry> open = this.ledger.read(seen.view().records(Ledger.APPROVAL));
		List<ToolApproval> calls = HeldCalls.entries(key, seen.held(), open)
			.stream()
			.map(Continuations::withoutHolder)
			.toList();
		List<ToolApproval> undecided = undecided(key, calls);
		return new Situation(undecided.isEmpty() ? State.DECIDED : State.WAITS, calls, undecided,
				seen.view().turn().parameters());
	}

	/** Nobody holds the lease, so a claim is one whose holder is gone. */
	private static ToolApproval withoutHolder(LedgerEntry entry) {
		return ((entry.status() == ApprovalStatus.CLAIMED) ? entry.with(ApprovalStatus.UNCERTAIN) : entry).approval();
	}

	/** Calls that wait follow a standing decision when their turn continues. */
	private List<ToolApproval> undecided(SessionKey key, List<ToolApproval> calls) {
		List<ToolApproval> pending = calls.stream().filter((call) -> call.status().isPending()).toList();
		if (pending.stream().noneMatch((call) -> call.status() == ApprovalStatus.PROPOSED)) {
			return pending;
		}
		List<StandingDecision> standing = this.standing.of(key);
		return pending.stream()
			.filter((call) -> call.status() != ApprovalStatus.PROPOSED
					|| standing.stream().noneMatch((decision) -> StandingDecisions.covers(decision, call)))
			.toList();
	}

	// the processes at work

	/**
	 * Returns how long a process claims a notice: until the lease of its turn would run
	 * out, if the process dies.
	 */
	public Duration claim() {
		return Delivery.shorter(this.turns.leases().life(), Delivery.LEASE);
	}

	/** Returns whether this process still begins calls. */
	public boolean mayBegin() {
		return !this.turns.drain().isOn();
	}

	/** Tells a runner of each decision of this process, with session and turn. */
	public void addRunner(BiConsumer<SessionKey, String> runner) {
		this.runners.add(runner);
	}

	public void removeRunner(BiConsumer<SessionKey, String> runner) {
		this.runners.remove(runner);
	}

	/** Tells the runners of this process that a call was decided. */
	public void decided(ToolApproval call) {
		this.runners.forEach((runner) -> runner.accept(call.key(), call.turnId()));
	}

}
