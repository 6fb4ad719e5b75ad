package io.sessionkit.internal;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * A thread that looks for work at an interval, and whenever it is woken, until it is
 * closed. A look that fails is logged once, with the name of its class, and the next one
 * follows. Safe for use by many threads.
 */
public final class LookingThread implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(LookingThread.class);

	/** The maximum time that closing waits for the look that is under way. */
	private static final Duration PATIENCE = Duration.ofSeconds(10);

	private final Runnable look;

	private final String what;

	private final Duration interval;

	private final Semaphore woken = new Semaphore(0);

	private final Thread thread;

	private volatile boolean closed;

	private boolean failing;

	/** The time at which the interval is over. */
	private long next = System.nanoTime();

	private boolean due;

	/**
	 * Creates the thread; {@link #start} starts it.
	 * @param name the name of the thread
	 * @param what the records that are read, as the subject of a sentence
	 * @param look looks for work, and does it
	 * @param interval the time from the end of a look that is due to the next one
	 */
	public LookingThread(String name, String what, Runnable look, Duration interval) {
		this.what = what;
		this.look = look;
		this.interval = interval;
		this.thread = OwnThreads.named(name).newThread(this::run);
	}

	/** Starts to look, at once. */
	public void start() {
		this.thread.start();
	}

	/** Has the thread look now, or once more if it is looking. */
	public void wake() {
		this.woken.release();
	}

	/** Returns whether no more work is to begin. */
	public boolean isClosed() {
		return this.closed;
	}

	/**
	 * Returns whether the interval was over when this look began, however often the
	 * thread was woken meanwhile. True for the first look. For the look alone.
	 */
	public boolean isDue() {
		return this.due;
	}

	private void run() {
		while (!this.closed) {
			this.due = System.nanoTime() - this.next >= 0;
			look();
			if (this.due) {
				this.next = System.nanoTime() + TimeUnit.NANOSECONDS.convert(this.interval);
			}
			await();
		}
	}

	private void await() {
		try {
			this.woken.tryAcquire(Math.max(0, this.next - System.nanoTime()), TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			logger.debug(
					"The thread " + this.thread.getName() + " was interrupted, which it is not to be. It continues.");
		}
		this.woken.drainPermits();
	}

	private void look() {
		try {
			this.look.run();
			this.failing = false;
		}
		catch (Throwable ex) {
			// an exception that leaves this method would end the thread silently
			if (!this.failing && !this.closed) {
				logger.warn(this.what + " could not be read: " + ex.getClass().getName() + ". This is tried again.");
			}
			this.failing = true;
		}
	}

	/**
	 * Ends the thread and waits for the look that is under way, for 10 seconds at most.
	 * Nothing is interrupted, because an interrupt would break some databases.
	 */
	@Override
	public void close() {
		this.closed = true;
		wake();
		try {
			this.thread.join(PATIENCE.toMillis());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
