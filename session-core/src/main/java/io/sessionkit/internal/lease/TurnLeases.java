package io.sessionkit.internal.lease;

import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

import io.sessionkit.SessionKey;
import io.sessionkit.SessionNotFoundException;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.internal.Renewals;
import io.sessionkit.observation.CallObserver;
import io.sessionkit.observation.LeaseKind;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreUnavailableException;
import org.jspecify.annotations.Nullable;

/**
 * Gives out leases of open turns and of rewinds. Safe for use by many threads.
 */
public final class TurnLeases {

	/**
	 * The default lifetime of a lease: the time after which an open turn is free if the
	 * call that works on it no longer renews its lease.
	 */
	public static final Duration DEFAULT_LIFE = Duration.ofSeconds(30);

	private final SessionStore store;

	private final Duration life;

	private final Renewals renewals;

	private final CallObserver observer;

	public TurnLeases(SessionStore store, Duration life, Renewals renewals, CallObserver observer) {
		this.observer = observer;
		this.store = store;
		this.life = life;
		this.renewals = renewals;
	}

	/**
	 * A lease that is taken as part of a write made elsewhere.
	 *
	 * @param holder the name of its holder
	 * @param write the write that takes the lease
	 * @param lease supplies the lease after that write
	 */
	public record Taking(String holder, RecordWrite write, Supplier<TurnLease> lease) {

		public TurnLease taken() {
			return this.lease.get();
		}

	}

	/** Returns how long a lease lasts that is not renewed. */
	public Duration life() {
		return this.life;
	}

	/**
	 * Checks that a session outlives the silence of a process that works on it.
	 * @param timeToLive how long it is to live after each write; null or zero if it never
	 * expires
	 * @throws IllegalArgumentException if it would not live longer than a lease
	 */
	public void checkLife(@Nullable Duration timeToLive) {
		if (timeToLive != null && !timeToLive.isZero() && timeToLive.compareTo(this.life) <= 0) {
			throw new IllegalArgumentException("A session cannot have the time to live " + timeToLive
					+ ", since it would be gone while a process that works on it may still be silent. Use a longer time than"
					+ " the lease, which is " + this.life + ", or Duration.ZERO for a session that never expires.");
		}
	}

	/**
	 * Returns the life of a session, which nobody extends yet.
	 * @param timeToLive how long the session lives after each write; null if it never
	 * expires
	 */
	public SessionLife life(SessionKey key, @Nullable Duration timeToLive) {
		return new SessionLife(this.store, key, timeToLive, this.renewals);
	}

	/**
	 * Returns the lease to take in the commit that opens its turn.
	 */
	public Taking beginning(SessionKey key) {
		String holder = this.store.options().turnIds().get();
		return taking(key, holder, TurnLease.beginning(this.store, key, holder, this.life));
	}

	private Taking taking(SessionKey key, String holder, RecordWrite write) {
		TurnLease.Since since = TurnLease.Since.now(this.store);
		LeaseKind kind = write.kind().equals(TurnRecords.LEASE) ? LeaseKind.TURN : LeaseKind.REWIND;
		return new Taking(holder, write,
				() -> TurnLease.taken(this.store, key, write, holder, this.life, since, this.renewals)
					.whenLost(() -> this.observer.leaseLost(kind)));
	}

	/**
	 * Takes the lease of the open turn of a session.
	 * @return the lease; empty if another call has it, or if the session is gone
	 */
	public Optional<TurnLease> take(SessionKey key) {
		String holder = this.store.options().turnIds().get();
		Taking taking = taking(key, holder, TurnLease.taking(this.store, key, TurnRecords.LEASE, holder, this.life));
		return isTaken(key, taking) ? Optional.of(taking.taken()) : Optional.empty();
	}

	private boolean isTaken(SessionKey key, Taking taking) {
		try {
			return this.store.put(key, taking.write());
		}
		catch (StoreUnavailableException ex) {
			unanswered(key, taking, ex);
			throw ex;
		}
	}

	/**
	 * Gives a lease back that the store may have although its answer was lost: nobody
	 * would renew it, and until it ends it would keep others out. The store is asked for
	 * it once, soon after; a write that lands behind that stays until it ends.
	 * @param taking the lease that was to be taken
	 * @param lost the failure of that write
	 */
	public void unanswered(SessionKey key, Taking taking, StoreUnavailableException lost) {
		if (!lost.isUnwritten()) {
			this.renewals.tryAgain(this.life,
					() -> TurnLease.giveBack(this.store, key, taking.write().kind(), taking.holder()));
		}
	}

	/**
	 * Does work for a rewind of a session that no other rewind may do at the same time.
	 * @param work the work, which is given the lease
	 * @return the result of the work
	 * @throws TurnInProgressException if another call rewinds the session
	 * @throws SessionNotFoundException if the session is gone
	 */
	public <T> T rewinding(SessionKey key, Function<HeldLease, T> work) {
		String holder = this.store.options().turnIds().get();
		Taking taking = taking(key, holder, TurnLease.taking(this.store, key, TurnRecords.REWIND, holder, this.life));
		if (!isTaken(key, taking)) {
			throw this.store.find(key).isEmpty()
					? new SessionNotFoundException("There is no session " + key + " to rewind, or it has expired.")
					: rewound(key);
		}
		TurnLease lease = taking.taken();
		try {
			return work.apply(lease);
		}
		finally {
			lease.leave();
		}
	}

	private TurnInProgressException rewound(SessionKey key) {
		return new TurnInProgressException("Another call rewinds session " + key
				+ " at this moment. Nothing was run by this one; call again when it is done. The rewind of a process that"
				+ " was killed can be continued when its sessionkit.lease has passed.");
	}

	/**
	 * Returns the name of the holder of the lease of a rewind.
	 * @return the holder; null if no call rewinds the session at this moment
	 */
	public @Nullable String rewindHolder(SessionKey key) {
		return TurnLease.holder(this.store, key, TurnRecords.REWIND);
	}

}
