package io.sessionkit.internal.line;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.sessionkit.SessionKey;
import io.sessionkit.ShuttingDownException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * The work of one process on its sessions, which ends in order when the process shuts
 * down: nothing new begins, and turns stop at their next step. Safe for use by many
 * threads.
 */
public final class Drain {

	private static final Log logger = LogFactory.getLog(Drain.class);

	private volatile boolean on;

	private int atWork;

	private int handedOver;

	/**
	 * A call at work, until it is ended. Ending it again does nothing, and neither does
	 * ending one for which another call waits, which counts with that one.
	 */
	public final class Work implements AutoCloseable {

		private boolean ended;

		private Work(boolean inside) {
			this.ended = inside;
		}

		@Override
		public void close() {
			synchronized (Drain.this) {
				if (!this.ended) {
					this.ended = true;
					Drain.this.atWork--;
					Drain.this.notifyAll();
				}
			}
		}

	}

	/**
	 * Begins the work of a call.
	 * @param inside whether another call at work waits for this one
	 * @throws ShuttingDownException if nothing new begins, and nobody at work waits for
	 * the call
	 */
	public synchronized Work enter(SessionKey key, boolean inside) {
		if (this.on && !inside) {
			throw refused(key);
		}
		this.atWork += inside ? 0 : 1;
		return new Work(inside);
	}

	/**
	 * Returns the exception for a call that does not begin.
	 */
	public static ShuttingDownException refused(SessionKey key) {
		return new ShuttingDownException("The call on session " + key
				+ " came to a process that shuts down. Nothing was run; make it again, so that another process takes it.");
	}

	/** Returns whether turns are to stop at their next step. */
	public boolean isOn() {
		return this.on;
	}

	/** Counts a turn that stops at a step. */
	public synchronized void handedOver() {
		this.handedOver++;
	}

	/** Lets nothing new begin. */
	public synchronized void begin() {
		if (!this.on) {
			this.on = true;
			this.handedOver = 0;
		}
	}

	/** Returns whether nothing is at work. */
	public synchronized boolean isIdle() {
		return this.atWork == 0;
	}

	/** Lets calls begin again. */
	public synchronized void end() {
		this.on = false;
	}

	/**
	 * Waits until nothing is at work any more.
	 * @param limit how long to wait at most; zero only to look
	 * @return whether nothing is at work
	 */
	public synchronized boolean await(Duration limit) {
		if (this.atWork == 0 || limit.isZero()) {
			return this.atWork == 0;
		}
		int before = this.atWork;
		logger.info("This process shuts down: nothing new begins, and " + before
				+ " calls on sessions stop at their next step, within " + limit + ".");
		long begun = System.nanoTime();
		try {
			while (this.atWork > 0) {
				long left = limit.toMillis() - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
				if (left <= 0) {
					break;
				}
				wait(left);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		report(before);
		return this.atWork == 0;
	}

	private void report(int before) {
		String ended = (before - this.atWork) + " of " + before + " calls on sessions have ended, " + this.handedOver
				+ " of them with a turn that another process can continue.";
		if (this.atWork == 0) {
			logger.info(ended);
		}
		else {
			logger.warn(ended + " The other " + this.atWork
					+ " did not reach a step in time. Their turns stay as a killed"
					+ " process leaves them; a tool call that is in the ledger and has no result is uncertain.");
		}
	}

}
