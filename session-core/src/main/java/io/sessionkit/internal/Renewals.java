package io.sessionkit.internal;

import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
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

	/** The number of renewals in each lifetime. */
	private static final int PER_LIFE = 3;

	/** The number of tries in each lifetime after a failure. */
	private static final int TRIES_PER_LIFE = 24;

	/** Nothing that has failed waits longer for its next try. */
	private static final Duration LONGEST_WAIT = Duration.ofMinutes(1);

	/** The thread of a renewal that takes longer is replaced, however long the life. */
	private static final Duration LONGEST_PATIENCE = Duration.ofSeconds(10);

	/** The threads may be needed first by a request of anybody. */
	private final ClassLoader loader = OwnThreads.loader();

	private @Nullable RenewalThreads threads;

	private boolean closed;

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
	 * Returns the time after which a renewal counts as one that hangs.
	 * @param life the time after which something is lost unless it is renewed
	 */
	static Duration patience(Duration life) {
		Duration period = period(life);
		return (period.compareTo(LONGEST_PATIENCE) < 0) ? period : LONGEST_PATIENCE;
	}

	/**
	 * Runs renewals until they are cancelled. One that fails is tried again soon.
	 * @param life the time after which something is lost unless it is renewed
	 * @param what names what is renewed, for the log
	 * @param renewal renews it, or throws if the store has failed
	 */
	public Renewal start(Duration life, Supplier<String> what, Runnable renewal) {
		return start(life, what, renewal, () -> {
		});
	}

	/**
	 * Runs renewals until they are cancelled. One that fails is tried again soon. After
	 * {@link #close} nothing is renewed: what a call holds then ends by itself, unless
	 * the call gives it back before.
	 * @param life the time after which something is lost unless it is renewed
	 * @param what names what is renewed, for the log
	 * @param renewal renews it, or throws if the store has failed
	 * @param whenOverdue runs several times in each lifetime while a renewal does not
	 * come back from the store; must not call it
	 */
	public Renewal start(Duration life, Supplier<String> what, Runnable renewal, Runnable whenOverdue) {
		Renewal started = new Renewal(life, what, renewal, whenOverdue);
		unlessClosed(() -> started.next(period(life)));
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
		RenewalThreads.Task task = new RenewalThreads.Task(() -> "What a call gives back", patience(life), () -> {
			try {
				work.run();
			}
			catch (RuntimeException | Error ex) {
				if (tries > 1) {
					unlessClosed(() -> tryAgain(life, work, tries - 1));
				}
			}
		}, () -> {
		});
		schedule(task, untilNextTry(life));
	}

	/** Schedules work, unless this object is closed, also meanwhile. */
	private static void unlessClosed(Runnable scheduling) {
		try {
			scheduling.run();
		}
		catch (RejectedExecutionException ex) {
			logger.debug("Nothing is renewed any more, the threads are stopped.");
		}
	}

	private synchronized RenewalThreads.Scheduled schedule(RenewalThreads.Task task, Duration delay) {
		if (this.closed) {
			throw new RejectedExecutionException("The threads are stopped.");
		}
		if (this.threads == null) {
			this.threads = new RenewalThreads(this.loader);
		}
		return this.threads.schedule(task, delay);
	}

	/**
	 * Stops all renewals.
	 */
	@Override
	public synchronized void close() {
		this.closed = true;
		if (this.threads != null) {
			this.threads.close();
		}
	}

	/**
	 * Something that is renewed until it is cancelled. Safe for use by many threads.
	 */
	public final class Renewal {

		private final Duration life;

		private final Supplier<String> what;

		private final RenewalThreads.Task task;

		private final Runnable renewal;

		private RenewalThreads.@Nullable Scheduled next;

		private boolean cancelled;

		/** True if the last renewal failed. Used by one thread at a time. */
		private volatile boolean failing;

		private Renewal(Duration life, Supplier<String> what, Runnable renewal, Runnable whenOverdue) {
			this.life = life;
			this.what = what;
			this.renewal = renewal;
			this.task = new RenewalThreads.Task(what, patience(life), this::run, whenOverdue);
		}

		/** Stops the renewals. One that runs at this moment runs to its end. */
		public synchronized void cancel() {
			this.cancelled = true;
			if (this.next != null) {
				this.next.cancel();
			}
		}

		private synchronized void next(Duration delay) {
			if (!this.cancelled) {
				this.next = schedule(this.task, delay);
			}
		}

		private void run() {
			Duration delay = period(this.life);
			try {
				this.renewal.run();
				this.failing = false;
			}
			catch (RuntimeException | Error ex) {
				delay = untilNextTry(this.life);
				failed(ex);
			}
			Duration wait = delay;
			unlessClosed(() -> next(wait));
		}

		/** Logged once until the store is back. */
		private void failed(Throwable ex) {
			if (!this.failing) {
				logger.warn(this.what.get() + " could not be renewed and is tried again: " + ex.getClass().getName());
			}
			this.failing = true;
		}

	}

}
