package io.sessionkit.internal;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * The threads that renew what a call holds as long as it is at work: leases, and places
 * in line. They are started when they are first needed. Safe for use by many threads.
 */
public final class Renewals implements AutoCloseable {

	/** How often something is renewed in each lifetime. */
	private static final int PER_LIFE = 3;

	/**
	 * The number of threads. A renewal that waits for a connection must not cost others
	 * what they hold.
	 */
	private static final int THREADS = 4;

	private @Nullable ScheduledExecutorService threads;

	/**
	 * Returns the time between two renewals.
	 * @param life the time after which something is lost unless it is renewed
	 */
	public static Duration period(Duration life) {
		return Duration.ofMillis(Math.max(1, life.toMillis() / PER_LIFE));
	}

	/**
	 * Runs renewals until they are cancelled.
	 * @param life the time after which something is lost unless it is renewed
	 * @param renewal renews it
	 */
	public synchronized ScheduledFuture<?> start(Duration life, Runnable renewal) {
		if (this.threads == null) {
			this.threads = Executors.newScheduledThreadPool(THREADS, (task) -> {
				Thread thread = new Thread(task, "sessionkit-lease");
				thread.setDaemon(true);
				return thread;
			});
		}
		long period = period(life).toMillis();
		return this.threads.scheduleWithFixedDelay(renewal, period, period, TimeUnit.MILLISECONDS);
	}

	/**
	 * Stops all renewals.
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
