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

	private SessionPurge(Builder builder) {
		this.store = builder.store;
		this.batchSize = builder.batchSize;
	}

	/**
	 * Creates a builder.
	 * @param store the store to delete from
	 * @return the builder
	 */
	public static Builder builder(SessionStore store) {
		return new Builder(store);
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

	/**
	 * Builds a {@link SessionPurge}. Not safe for use by many threads.
	 */
	public static final class Builder {

		private final SessionStore store;

		private Duration interval = Duration.ofMinutes(15);

		private int batchSize = 200;

		private Builder(SessionStore store) {
			this.store = store;
		}

		/**
		 * Sets the pause between the end of a run and the next one. The default is 15
		 * minutes.
		 * @param interval the pause, positive
		 * @return this builder
		 * @throws IllegalArgumentException if the pause is not positive
		 */
		public Builder interval(Duration interval) {
			if (interval.isNegative() || interval.isZero()) {
				throw new IllegalArgumentException("A purge needs an interval above zero, not " + interval + ".");
			}
			this.interval = interval;
			return this;
		}

		/**
		 * Sets how many sessions and records one call of
		 * {@link SessionStore#deleteExpired} deletes. The default is 200.
		 * @param batchSize the number, 1 or more
		 * @return this builder
		 * @throws IllegalArgumentException if the number is less than 1
		 */
		public Builder batchSize(int batchSize) {
			if (batchSize < 1) {
				throw new IllegalArgumentException("A purge needs a batch of 1 or more, not " + batchSize + ".");
			}
			this.batchSize = batchSize;
			return this;
		}

		/**
		 * Starts deleting expired sessions. The first run starts after one minute, or
		 * after the interval if that is shorter.
		 * @return the running purge
		 */
		public SessionPurge start() {
			SessionPurge purge = new SessionPurge(this);
			long period = Math.max(1, this.interval.toMillis());
			purge.thread.scheduleWithFixedDelay(purge::run, Math.min(period, FIRST_DELAY.toMillis()), period,
					TimeUnit.MILLISECONDS);
			return purge;
		}

	}

}
