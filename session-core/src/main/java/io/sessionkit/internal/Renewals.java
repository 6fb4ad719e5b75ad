package io.sessionkit.internal;

import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The threads that renew what a call holds as long as it is at work: leases, places in
 * line, and the life of its session. They are started when they are first needed. Safe
 * for use by many threads.
 */
public final class Renewals implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(Renewals.class);

	/** How often something is renewed in each lifetime. */
	private static final int PER_LIFE = 3;

	/** How often what has failed is tried in each lifetime. */
	private static final int TRIES_PER_LIFE = 24;

	/** Nothing that has failed waits longer for its next try. */
	private static final Duration LONGEST_WAIT = Duration.ofMinutes(1);

	/**
	 * The number of threads. A renewal that waits for a connection must not cost others
	 * what they hold.
	 */
	private static final int THREADS = 4;

	private @Nullable ScheduledThreadPoolExecutor threads;

	/**
	 * Returns the time between two renewals.
	 * @param life the time after which something is lost unless it is renewed
	 */
	public static Duration period(Duration life) {
		return Duration.ofMillis(Math.max(1, life.toMillis() / PER_LIFE));
	}

	/** A store that has failed may be back long before the next renewal is due. */
	private static Duration untilNextTry(Duration life) {
		Duration wait = Duration.ofMillis(Math.max(1, life.toMillis() / TRIES_PER_LIFE));
		return (wait.compareTo(LONGEST_WAIT) < 0) ? wait : LONGEST_WAIT;
	}

	/**
	 * Runs renewals until they are cancelled. One that fails is tried again soon.
	 * @param life the time after which something is lost unless it is renewed
	 * @param what names what is renewed, for the log
	 * @param renewal renews it, or throws if the store has failed
	 */
	public Renewal start(Duration life, Supplier<String> what, Runnable renewal) {
		Renewal started = new Renewal(life, what, renewal);
		started.next(period(life));
		return started;
	}

	/**
	 * Tries work again that has failed, as long as that makes a difference.
	 * @param life the time after which the work need not be done
	 * @param work the work, which throws if the store fails again
	 */
	public void tryAgain(Duration life, Runnable work) {
		unlessClosed(() -> tryAgain(life, work, TRIES_PER_LIFE));
	}

	private void tryAgain(Duration life, Runnable work, int tries) {
		schedule(() -> {
			try {
				work.run();
			}
			catch (RuntimeException ex) {
				if (tries > 1) {
					unlessClosed(() -> tryAgain(life, work, tries - 1));
				}
			}
		}, untilNextTry(life));
	}

	/** What runs while this object is closed is the last of its kind. */
	private static void unlessClosed(Runnable scheduling) {
		try {
			scheduling.run();
		}
		catch (RejectedExecutionException ex) {
			logger.debug("A renewal has ended, the threads are stopped.");
		}
	}

	private synchronized ScheduledFuture<?> schedule(Runnable work, Duration delay) {
		if (this.threads == null) {
			this.threads = new ScheduledThreadPoolExecutor(THREADS, (task) -> {
				Thread thread = new Thread(task, "sessionkit-lease");
				thread.setDaemon(true);
				return thread;
			});
			// the next renewal of what has ended may be days away
			this.threads.setRemoveOnCancelPolicy(true);
		}
		return this.threads.schedule(work, delay.toMillis(), TimeUnit.MILLISECONDS);
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

	/**
	 * Something that is renewed until it is cancelled. Safe for use by many threads.
	 */
	public final class Renewal {

		private final Duration life;

		private final Supplier<String> what;

		private final Runnable renewal;

		private @Nullable ScheduledFuture<?> next;

		private boolean cancelled;

		/** Whether the last renewal has failed. Used by one thread at a time. */
		private volatile boolean failing;

		private Renewal(Duration life, Supplier<String> what, Runnable renewal) {
			this.life = life;
			this.what = what;
			this.renewal = renewal;
		}

		/** Stops the renewals. One that runs at this moment runs to its end. */
		public synchronized void cancel() {
			this.cancelled = true;
			if (this.next != null) {
				this.next.cancel(false);
			}
		}

		private synchronized void next(Duration delay) {
			if (!this.cancelled) {
				this.next = schedule(this::run, delay);
			}
		}

		private void run() {
			Duration delay = period(this.life);
			try {
				this.renewal.run();
				this.failing = false;
			}
			catch (RuntimeException ex) {
				delay = untilNextTry(this.life);
				failed(ex);
			}
			Duration wait = delay;
			unlessClosed(() -> next(wait));
		}

		/** Logged once until the store is back. */
		private void failed(RuntimeException ex) {
			if (!this.failing) {
				logger.warn(this.what.get() + " could not be renewed and is tried again: " + ex.getClass().getName());
			}
			this.failing = true;
		}

	}

}
