package io.sessionkit.store;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

import io.sessionkit.internal.OwnThreads;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Deletes expired sessions in the background, batch by batch, until it is closed. Several
 * processes may do so on one store. A failure is logged with the name of its class, once
 * until a run succeeds, and the next run tries again.
 */
public final class SessionPurge implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(SessionPurge.class);

	/** The delay before the first run, unless the interval is shorter. */
	private static final Duration FIRST_DELAY = Duration.ofMinutes(1);

	/** The maximum time that closing waits for the batch that is being deleted. */
	private static final Duration PATIENCE = Duration.ofSeconds(10);

	private final SessionStore store;

	private final int batchSize;

	private final ScheduledExecutorService thread = Executors
		.newSingleThreadScheduledExecutor(OwnThreads.named("sessionkit-purge"));

	private volatile boolean closed;

	private boolean failing;

	private SessionPurge(SessionStore store, int batchSize) {
		this.store = store;
		this.batchSize = batchSize;
	}

	/**
	 * Starts deleting expired sessions. The first run starts after one minute, or after
	 * the interval if that is shorter; each later run starts one interval after the end
	 * of the run before.
	 * @param store the store to delete from
	 * @param interval the pause between two runs; positive
	 * @param batchSize how many sessions and records one call of
	 * {@link SessionStore#deleteExpired} deletes; 1 or more
	 * @return the running purge
	 * @throws IllegalArgumentException if the interval or the batch size is not positive
	 */
	public static SessionPurge start(SessionStore store, Duration interval, int batchSize) {
		if (interval.isNegative() || interval.isZero() || batchSize < 1) {
			throw new IllegalArgumentException("A purge needs an interval above zero and a batch of 1 or more, not "
					+ interval + " and " + batchSize + ".");
		}
		SessionPurge purge = new SessionPurge(store, batchSize);
		long period = Math.max(1, interval.toMillis());
		purge.thread.scheduleWithFixedDelay(purge::run, Math.min(period, FIRST_DELAY.toMillis()), period,
				TimeUnit.MILLISECONDS);
		return purge;
	}

	private void run() {
		try {
			while (!this.closed && this.store.deleteExpired(this.batchSize) > 0) {
				logger.debug("Deleted a batch of expired sessions.");
			}
			this.failing = false;
		}
		catch (Throwable ex) {
			// an exception that leaves this method would end the schedule silently
			failed(ex);
		}
	}

	private void failed(Throwable ex) {
		if (!this.failing && !this.closed) {
			logger.warn("Expired sessions could not be deleted: " + ex.getClass().getName()
					+ ". They read as absent; deleting them is tried again.");
		}
		this.failing = true;
	}

	/**
	 * Stops deleting and waits for the batch that is being deleted, for 10 seconds at
	 * most. Nothing is interrupted, because an interrupt would break some databases.
	 */
	@Override
	public void close() {
		this.closed = true;
		this.thread.shutdown();
		try {
			this.thread.awaitTermination(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
