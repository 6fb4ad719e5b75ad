package io.sessionkit.internal.lease;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

import io.sessionkit.SessionKey;
import io.sessionkit.internal.DurationText;
import io.sessionkit.internal.Renewals;
import io.sessionkit.internal.Uninterrupted;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The lease of a call that works on an open turn, or that rewinds a session. It is a
 * record that expires by the store's clock unless it is renewed, which a thread does
 * three times in each lifetime. It is given back when the turn and everything that runs
 * for it are done. Safe for use by many threads.
 */
public final class TurnLease implements HeldLease {

	private static final Log logger = LogFactory.getLog(TurnLease.class);

	private static final int VERSION = 1;

	private final SessionStore store;

	private final SessionKey key;

	private final String kind;

	private final String holder;

	private final Duration life;

	private final Renewals renewals;

	/**
	 * Held while the record is written. The monitor is not, so that no other thread
	 * waits.
	 */
	private final Lock writing = new ReentrantLock();

	private long revision;

	/**
	 * The end of the lease by the monotonic clock of this process, which setting the wall
	 * clock does not change.
	 */
	private long validUntil;

	/**
	 * The end of the lease by the wall clock, which continues while the machine sleeps.
	 * The lease is over as soon as one of the two clocks says so.
	 */
	private Instant validUntilTime;

	private int users = 1;

	/** True while the lease is being given back with the end of its turn. */
	private boolean ending;

	private final AtomicBoolean reported = new AtomicBoolean();

	private Renewals.@Nullable Renewal renewal;

	private volatile Runnable whenLost = () -> {
	};

	private TurnLease(SessionStore store, SessionKey key, RecordWrite taking, String holder, Duration life, Since since,
			Renewals renewals) {
		this.store = store;
		this.key = key;
		this.kind = taking.kind();
		this.holder = holder;
		this.life = life;
		this.renewals = renewals;
		this.revision = taking.first();
		this.validUntil = since.nanoTime() + life.toNanos();
		this.validUntilTime = since.time().plus(life);
	}

	/**
	 * A moment, by both clocks.
	 *
	 * @param nanoTime the moment by {@link System#nanoTime}
	 * @param time the moment by the wall clock
	 */
	record Since(long nanoTime, Instant time) {

		static Since now(SessionStore store) {
			return new Since(System.nanoTime(), store.options().clock().instant());
		}

	}

	/**
	 * Creates the write that takes the lease of a turn that is open, or of a rewind. It
	 * does not succeed while the lease is held.
	 * @param kind the kind of its record
	 */
	static RecordWrite taking(SessionStore store, SessionKey key, String kind, String holder, Duration life) {
		return RecordWrite.create(kind, TurnRecords.LEASE_ID, payload(store, key, holder)).timeToLive(life);
	}

	/**
	 * Creates the write that takes the lease of a turn that the same commit opens. A
	 * lease that is there is left over from a turn that has ended.
	 */
	public static RecordWrite beginning(SessionStore store, SessionKey key, String holder, Duration life) {
		return RecordWrite.put(TurnRecords.LEASE, TurnRecords.LEASE_ID, payload(store, key, holder)).timeToLive(life);
	}

	/**
	 * Returns the lease that was taken, and begins to renew it.
	 * @param taking the write that took the lease
	 * @param since a moment before that write
	 */
	public static TurnLease taken(SessionStore store, SessionKey key, RecordWrite taking, String holder, Duration life,
			Since since, Renewals renewals) {
		TurnLease lease = new TurnLease(store, key, taking, holder, life, since, renewals);
		lease.renewal = renewals.start(life, () -> "The lease of the " + lease.what() + " on session " + key,
				lease::renew, lease::overdue);
		return lease;
	}

	/**
	 * Returns the current holder of a lease.
	 * @param kind the kind of its record
	 * @return the holder; null if there is none
	 */
	public static @Nullable String holder(SessionStore store, SessionKey key, String kind) {
		return holder(store, store.records(key, kind));
	}

	/**
	 * Returns the holder that the records of leases name; null if there is none.
	 */
	public static @Nullable String holder(SessionStore store, List<SessionRecord> leases) {
		return leases.stream().map((record) -> holder(store, record)).findFirst().orElse(null);
	}

	private static @Nullable String holder(SessionStore store, SessionRecord record) {
		return Objects.toString(store.options().codec().decodeValues(record.key(), record.payload()).get("holder"),
				null);
	}

	/**
	 * Gives a lease back of which its process does not know whether it was taken.
	 */
	static void giveBack(SessionStore store, SessionKey key, String kind, String holder) {
		for (SessionRecord record : store.records(key, kind)) {
			if (holder.equals(holder(store, record))) {
				store.put(key, new RecordWrite(kind, record.id(), record.revision(), null, null));
			}
		}
	}

	private static String payload(SessionStore store, SessionKey key, String holder) {
		return store.options().codec().encodeValues(key, Map.<String, Object>of("version", VERSION, "holder", holder));
	}

	/**
	 * Sets what is done if the lease is lost while it is in use.
	 * @return this lease
	 */
	TurnLease whenLost(Runnable report) {
		this.whenLost = report;
		return this;
	}

	@Override
	public String holder() {
		return this.holder;
	}

	/**
	 * Returns whether the lease was renewed in time, so that no other call can have it.
	 */
	@Override
	public synchronized boolean isHeld() {
		return this.users > 0 && isInTime();
	}

	/** Adds a user of the lease. */
	public synchronized void use() {
		this.users++;
	}

	/**
	 * Returns the write that gives the lease back in the commit that ends its turn. It
	 * deletes any lease: with that commit nobody can work on the turn any more.
	 * @return the write; null if the lease must be given back later, since tools run
	 * under it, since it has run out, or since the commit may be rolled back
	 */
	public synchronized @Nullable RecordWrite givingBack() {
		this.ending = this.users == 1 && isInTime() && !this.store.mayRollBack();
		return this.ending ? new RecordWrite(TurnRecords.LEASE, TurnRecords.LEASE_ID, RecordWrite.ANY, null, null)
				: null;
	}

	/** Ends the lease after the commit that has given it back. */
	public synchronized void givenBack() {
		this.users = 0;
		stopRenewal();
	}

	/**
	 * Removes a user of the lease. The last one gives it back.
	 */
	public void leave() {
		synchronized (this) {
			if (--this.users != 0) {
				return;
			}
			stopRenewal();
		}
		try {
			Uninterrupted.call(this::giveBack);
		}
		catch (RuntimeException ex) {
			logger.warn("The lease of the " + what() + " on session " + this.key
					+ " could not be given back, which is tried again; it ends in " + DurationText.of(this.life)
					+ " at the latest: " + ex.getClass().getName());
			this.renewals.tryAgain(this.life, this::giveBack);
		}
	}

	/**
	 * Gives the lease back unless it has run out: another call may have it then. So a
	 * renewal that hangs is not waited for any longer.
	 */
	private boolean giveBack() {
		if (!isLockedInTime()) {
			return false;
		}
		try {
			return isInTime() && (delete() || isOurs() && delete());
		}
		finally {
			this.writing.unlock();
		}
	}

	private boolean isLockedInTime() {
		try {
			return this.writing.tryLock(left(), TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
	}

	private synchronized long left() {
		return this.validUntil - System.nanoTime();
	}

	private void renew() {
		this.writing.lock();
		try {
			Since now = Since.now(this.store);
			if (!isHeld()) {
				lost();
			}
			else if (put() || isOurs() && put()) {
				renewedAt(now);
			}
			else {
				lost();
			}
		}
		finally {
			this.writing.unlock();
		}
	}

	private synchronized void renewedAt(Since moment) {
		this.validUntil = moment.nanoTime() + this.life.toNanos();
		this.validUntilTime = moment.time().plus(this.life);
	}

	private synchronized boolean isInTime() {
		Since now = Since.now(this.store);
		return now.nanoTime() - this.validUntil < 0 && now.time().isBefore(this.validUntilTime);
	}

	private boolean delete() {
		return this.store.put(this.key, new RecordWrite(this.kind, TurnRecords.LEASE_ID, this.revision, null, null));
	}

	private boolean put() {
		boolean renewed = this.store.put(this.key, new RecordWrite(this.kind, TurnRecords.LEASE_ID, this.revision,
				payload(this.store, this.key, this.holder), this.life));
		if (renewed) {
			this.revision++;
		}
		return renewed;
	}

	/**
	 * Returns whether the stored lease is this one, and remembers its revision. A renewal
	 * may have been stored although the response was lost, and a lease that was taken
	 * with the beginning of its turn may have replaced an older one.
	 */
	private boolean isOurs() {
		for (SessionRecord record : this.store.records(this.key, this.kind)) {
			if (this.holder.equals(holder(this.store, record))) {
				this.revision = record.revision();
				return true;
			}
		}
		return false;
	}

	private void lost() {
		if (runsOut() && !isErased()) {
			reportLost();
		}
	}

	/** A renewal does not come back from the store, which therefore is not asked. */
	private void overdue() {
		if (!isInTime() && runsOut()) {
			reportLost();
		}
	}

	private void reportLost() {
		if (this.reported.compareAndSet(false, true)) {
			logger.warn("The lease of the " + what() + " on session " + this.key
					+ " has run out before it was renewed. What it ran is uncertain unless its result is stored.");
			this.whenLost.run();
		}
	}

	/**
	 * Returns whether the session is gone: whoever erases it takes its leases too. A
	 * store that cannot be read, which is why most leases are lost, does not say so.
	 */
	private boolean isErased() {
		try {
			return this.store.find(this.key).isEmpty();
		}
		catch (RuntimeException ex) {
			return false;
		}
	}

	/** Returns whether somebody still uses the lease. */
	private synchronized boolean runsOut() {
		boolean used = this.users > 0 && !this.ending;
		if (used) {
			this.validUntil = System.nanoTime();
		}
		stopRenewal();
		return used;
	}

	private String what() {
		return this.kind.equals(TurnRecords.LEASE) ? "open turn" : "rewind";
	}

	private void stopRenewal() {
		if (this.renewal != null) {
			this.renewal.cancel();
		}
	}

}
