package io.sessionkit.internal.line;

import java.time.Duration;
import java.util.Optional;

import io.sessionkit.SessionKey;
import io.sessionkit.ShuttingDownException;
import io.sessionkit.internal.DurationText;
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

	/**
	 * The number of calls that stand in line, or are between their line and their work.
	 */
	private int inLine;

	/** The number of calls at work when the shutdown began, with those inside of them. */
	private int toEnd;

	/** The number of turns that have stopped at a step. */
	private int handedOver;

	/** The number of their calls that have not ended yet. */
	private int ending;

	/**
	 * A call at work or in line, until that is ended. Ending it again does nothing.
	 */
	public final class Work implements AutoCloseable {

		private final boolean waits;

		private boolean handedOver;

		private boolean ended;

		private Work(boolean waits) {
			this.waits = waits;
		}

		/** Notes that the turn of the call stops at a step. */
		public void handedOver() {
			synchronized (Drain.this) {
				if (!this.handedOver && !this.ended) {
					this.handedOver = true;
					Drain.this.handedOver++;
					Drain.this.ending++;
				}
			}
		}

		@Override
		public void close() {
			synchronized (Drain.this) {
				if (!this.ended) {
					this.ended = true;
					Drain.this.ending -= this.handedOver ? 1 : 0;
					Drain.this.atWork -= this.waits ? 0 : 1;
					Drain.this.inLine -= this.waits ? 1 : 0;
					Drain.this.notifyAll();
				}
			}
		}

	}

	/**
	 * Begins the work of a call.
	 * @param inside whether a call at work has made this one, and so needs it
	 * @throws ShuttingDownException if nothing new begins, and no call at work has made
	 * this one
	 */
	public Work enter(SessionKey key, boolean inside) {
		return tryEnter(inside).orElseThrow(() -> refused(key));
	}

	/**
	 * Begins the work of a call.
	 * @param inside whether a call at work has made this one, and so needs it
	 * @return the work; empty if nothing new begins, and no call at work has made this
	 * one
	 */
	public synchronized Optional<Work> tryEnter(boolean inside) {
		if (this.on && !inside) {
			return Optional.empty();
		}
		this.atWork++;
		this.toEnd += this.on ? 1 : 0;
		return Optional.of(new Work(false));
	}

	/** Begins the waiting of a call in line, whose places need this process to leave. */
	public synchronized Work waiting() {
		this.inLine++;
		return new Work(true);
	}

	/**
	 * Returns the exception for a call that does not begin.
	 */
	public static ShuttingDownException refused(SessionKey key) {
		return new ShuttingDownException("The call on session " + key
				+ " has reached a process that is shutting down. Nothing was run; make it again, so that another process"
				+ " takes it.");
	}

	/** Returns whether turns are to stop at their next step. */
	public boolean isOn() {
		return this.on;
	}

	/** Lets nothing new begin. */
	public synchronized void begin() {
		if (!this.on) {
			this.on = true;
			this.handedOver = 0;
			this.toEnd = this.atWork;
		}
	}

	/** Returns whether nothing is at work or in line. */
	public synchronized boolean isIdle() {
		return this.atWork == 0 && this.inLine == 0;
	}

	/** Lets calls begin again. */
	public synchronized void end() {
		this.on = false;
		notifyAll();
	}

	/**
	 * Waits until nothing is at work or in line any more, or calls begin again.
	 * @param limit how long to wait at most; zero only to look
	 * @return whether nothing is at work or in line
	 */
	public synchronized boolean await(Duration limit) {
		if (isIdle() || limit.isZero()) {
			return isIdle();
		}
		logger.info("This process shuts down: nothing new begins, " + this.atWork
				+ " calls on sessions stop at their next step, and " + this.inLine + " leave their line, within "
				+ DurationText.of(limit) + ".");
		String why = "have not reached a step yet";
		try {
			waitForEnd(limit);
		}
		catch (InterruptedException ex) {
			why = "were not waited for, since the shutdown was interrupted";
			Thread.currentThread().interrupt();
		}
		report(why);
		return isIdle();
	}

	private synchronized void waitForEnd(Duration limit) throws InterruptedException {
		long begun = System.nanoTime();
		while (this.on && !isIdle()) {
			long left = limit.minusNanos(System.nanoTime() - begun).toMillis();
			if (left <= 0) {
				return;
			}
			wait(left);
		}
	}

	private void report(String why) {
		String ended = (this.toEnd - this.atWork) + " of " + this.toEnd + " calls on sessions have ended. Turns that"
				+ " have stopped at a step, where another process can continue them: " + this.handedOver + ".";
		int others = this.atWork - this.ending;
		if (others == 0) {
			logger.info(ended);
		}
		else {
			logger.warn(ended + " Calls that " + why + ": " + others
					+ ". If the process ends now, their turns stay as a"
					+ " killed process leaves them; a tool call that is in the ledger and has no result is uncertain.");
		}
		if (this.inLine > 0) {
			logger.warn(this.inLine + " calls have not left their line on a session. Those behind them wait until their"
					+ " places end (sessionkit.lease).");
		}
	}

}
