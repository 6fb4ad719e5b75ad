package io.sessionkit.internal;

import java.time.Duration;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The threads that call the store for renewals. A call on a connection that has died
 * silently may not come back for many minutes, so the thread of one that hangs is
 * replaced, up to a bound, and everything else is still renewed. Safe for use by many
 * threads.
 */
final class RenewalThreads implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(RenewalThreads.class);

	/**
	 * The number of threads that do not hang. A renewal that waits for a connection must
	 * not cost others what they hold.
	 */
	private static final int THREADS = 4;

	/** The number of threads with those that hang: more than pools have connections. */
	private static final int MOST_THREADS = 64;

	private final ScheduledThreadPoolExecutor threads;

	/** Its thread never calls the store, so it does not hang. */
	private final ScheduledThreadPoolExecutor watch;

	private int hanging;

	/** The time at which the first of the tasks that hang began. */
	private long hangingSince;

	/**
	 * Work that may hang.
	 *
	 * @param what supplies the name of the work, as the subject of a sentence
	 * @param patience the time after which the work counts as hanging
	 * @param work calls the store
	 * @param whenOverdue runs each time that the patience has passed again while the work
	 * is not done, if it or other work hangs; must not call the store
	 */
	record Task(Supplier<String> what, Duration patience, Runnable work, Runnable whenOverdue) {
	}

	/**
	 * Creates the threads, which start when they are first needed.
	 * @param loader their context class loader
	 */
	RenewalThreads(ClassLoader loader) {
		this.threads = threads("sessionkit-lease", loader, THREADS);
		this.watch = threads("sessionkit-lease-watch", loader, 1);
	}

	private static ScheduledThreadPoolExecutor threads(String name, ClassLoader loader, int number) {
		ScheduledThreadPoolExecutor threads = new ScheduledThreadPoolExecutor(number,
				new OwnThreads(() -> name, loader));
		// the next renewal of what has ended may be days away
		threads.setRemoveOnCancelPolicy(true);
		return threads;
	}

	/** Does work once, after a delay. */
	Scheduled schedule(Task task, Duration delay) {
		Scheduled scheduled = new Scheduled(task);
		scheduled.begin(delay.toMillis());
		return scheduled;
	}

	@Override
	public void close() {
		this.watch.shutdownNow();
		this.threads.shutdownNow();
		try {
			this.threads.awaitTermination(1, TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private synchronized boolean isAnyHanging() {
		return this.hanging > 0;
	}

	private synchronized void hangs(Task task, long begun) {
		this.hanging++;
		replaceHanging();
		if (this.hanging == 1) {
			this.hangingSince = begun;
			logger.warn(task.what().get() + " waits for the store, which has not answered for " + since(begun)
					+ ". Other renewals have other threads. If a connection has died silently (a failover, a firewall),"
					+ " let it fail: limit how long the driver waits for an answer to less than a third of"
					+ " sessionkit.lease, with socketTimeout of the JDBC driver or spring.data.redis.timeout. If the pool"
					+ " of connections has none free, which its meters show, it is too small for the calls at work.");
		}
		if (this.hanging == MOST_THREADS) {
			logger.warn(this.hanging + " renewals hang, and nothing else is renewed until one of them ends. Leases that"
					+ " run out meanwhile are lost.");
		}
	}

	private synchronized void hangsNoLonger() {
		this.hanging--;
		replaceHanging();
		if (this.hanging == 0) {
			logger.info("No renewal hangs any more; the first has hung for " + since(this.hangingSince) + ".");
		}
	}

	private void replaceHanging() {
		this.threads.setCorePoolSize(Math.min(THREADS + this.hanging, MOST_THREADS));
	}

	private static String since(long begun) {
		return DurationText.of(Duration.ofNanos(System.nanoTime() - begun));
	}

	/** Work that is done once. */
	final class Scheduled {

		private final Task task;

		private @Nullable ScheduledFuture<?> next;

		private @Nullable ScheduledFuture<?> looks;

		/** The time at which the next look is due. */
		private long due;

		/** The time at which the work began; null while it is not running. */
		private @Nullable Long begun;

		private boolean hangs;

		private boolean cancelled;

		private Scheduled(Task task) {
			this.task = task;
		}

		private synchronized void begin(long delay) {
			long patience = this.task.patience().toMillis();
			this.due = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(delay + patience);
			this.looks = RenewalThreads.this.watch.scheduleWithFixedDelay(this::look, delay + patience, patience,
					TimeUnit.MILLISECONDS);
			this.next = RenewalThreads.this.threads.schedule(this::run, delay, TimeUnit.MILLISECONDS);
		}

		/** Drops the work, unless it has begun: then it runs to its end. */
		synchronized void cancel() {
			if (this.begun == null) {
				this.cancelled = true;
				stop(this.next);
				stop(this.looks);
			}
		}

		private static void stop(@Nullable ScheduledFuture<?> future) {
			if (future != null) {
				future.cancel(false);
			}
		}

		private void run() {
			if (begins()) {
				try {
					this.task.work().run();
				}
				finally {
					ended();
				}
			}
		}

		private synchronized boolean begins() {
			this.begun = this.cancelled ? null : System.nanoTime();
			return this.begun != null;
		}

		private synchronized void ended() {
			this.begun = null;
			stop(this.looks);
			if (this.hangs) {
				hangsNoLonger();
			}
		}

		private void look() {
			noteHanging();
			if (isAnyHanging()) {
				this.task.whenOverdue().run();
			}
		}

		private synchronized void noteHanging() {
			boolean late = isLate();
			if (this.begun != null && !this.hangs && !late) {
				this.hangs = true;
				RenewalThreads.this.hangs(this.task, this.begun);
			}
		}

		/**
		 * Returns whether this look comes much too late: the process was suspended, and
		 * the store has had no time to answer.
		 */
		private boolean isLate() {
			long now = System.nanoTime();
			long patience = this.task.patience().toNanos();
			boolean late = now - this.due > patience;
			this.due = now + patience;
			return late;
		}

	}

}
