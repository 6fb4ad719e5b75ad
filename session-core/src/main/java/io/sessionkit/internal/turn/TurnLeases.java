package io.sessionkit.internal.turn;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.sessionkit.SessionKey;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import org.jspecify.annotations.Nullable;

/**
 * Gives out leases of open turns and renews them. Safe for use by many threads.
 */
public final class TurnLeases implements AutoCloseable {

	/**
	 * The default lifetime of a lease: the time after which an open turn is free if the
	 * call that works on it no longer renews its lease.
	 */
	public static final Duration DEFAULT_LIFE = Duration.ofSeconds(30);

	/**
	 * The number of threads. A renewal that waits for a connection must not cost other
	 * turns their leases.
	 */
	private static final int THREADS = 4;

	private final SessionStore store;

	private final Duration life;

	private @Nullable ScheduledExecutorService threads;

	public TurnLeases(SessionStore store, Duration life) {
		this.store = store;
		this.life = life;
	}

	/**
	 * A lease that is taken as part of a write made elsewhere.
	 *
	 * @param write the write that takes the lease
	 * @param lease supplies the lease after that write
	 */
	record Taking(RecordWrite write, Supplier<TurnLease> lease) {

		TurnLease taken() {
			return this.lease.get();
		}

	}

	/**
	 * Returns the lease to take in the commit that opens its turn.
	 */
	Taking beginning(SessionKey key) {
		String holder = this.store.options().turnIds().get();
		return taking(key, holder, TurnLease.beginning(this.store, key, holder, this.life));
	}

	private Taking taking(SessionKey key, String holder, RecordWrite write) {
		TurnLease.Since since = TurnLease.Since.now(this.store);
		return new Taking(write, () -> TurnLease.taken(this.store, key, write, holder, this.life, since, threads()));
	}

	/**
	 * Takes the lease of the open turn of a session.
	 * @throws TurnInProgressException if another call has it, or if the session is gone
	 */
	TurnLease take(SessionKey key) {
		String holder = this.store.options().turnIds().get();
		Taking taking = taking(key, holder, TurnLease.taking(this.store, key, holder, this.life));
		if (!this.store.put(key, taking.write())) {
			throw new TurnInProgressException("Another call works on the open turn of session " + key
					+ " at this moment, or the session is gone. Nothing was run by this one; call again when it is"
					+ " done. The turn of a process that was killed is free after " + this.life + ".");
		}
		return taking.taken();
	}

	private synchronized ScheduledExecutorService threads() {
		if (this.threads == null) {
			this.threads = Executors.newScheduledThreadPool(THREADS, (task) -> {
				Thread thread = new Thread(task, "sessionkit-lease");
				thread.setDaemon(true);
				return thread;
			});
		}
		return this.threads;
	}

	/**
	 * Stops renewing leases.
	 */
	@Override
	public synchronized void close() {
		if (this.threads != null) {
			this.threads.shutdownNow();
			try {
				this.threads.awaitTermination(1, TimeUnit.SECONDS);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}
	}

}
