package io.sessionkit.internal.lease;

import java.util.function.Function;

import io.sessionkit.SessionKey;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.store.RecordWrite;
import org.jspecify.annotations.Nullable;

/**
 * The lease under which the tools of one turn run, once the turn has taken it. Safe for
 * use by many threads.
 */
public final class ToolLease {

	private final SessionKey key;

	private @Nullable TurnLease lease;

	private boolean ended;

	/**
	 * Creates the lease of a turn.
	 * @param lease the lease with which the turn continues; null if it has none yet
	 */
	public ToolLease(SessionKey key, @Nullable TurnLease lease) {
		this.key = key;
		this.lease = lease;
	}

	public synchronized boolean isTaken() {
		return this.lease != null;
	}

	/**
	 * Returns whether there is a lease that was renewed in time.
	 */
	public synchronized boolean isHeld() {
		return this.lease != null && this.lease.isHeld();
	}

	/** Returns whether another call may work on the turn, since the lease ran out. */
	public synchronized boolean isLost() {
		return this.lease != null && !this.lease.isHeld();
	}

	public synchronized void take(TurnLease taken) {
		this.lease = taken;
	}

	/**
	 * Runs work that must not run without the lease. It is kept until the work is done,
	 * even if the turn ends before.
	 * @throws IllegalStateException if the turn is over for this call
	 * @throws TurnInProgressException if the lease was lost; nothing was run
	 */
	public <T> T run(Function<HeldLease, T> work) {
		TurnLease used = use();
		try {
			return work.apply(used);
		}
		finally {
			used.leave();
		}
	}

	private synchronized TurnLease use() {
		checkRunning(this.ended);
		TurnLease used = this.lease;
		if (used == null || !used.isHeld()) {
			throw new TurnInProgressException("The lease of the open turn on session " + this.key
					+ " was not renewed in time, so another call may work on it. Nothing more is run by this one.");
		}
		used.use();
		return used;
	}

	public void checkRunning(boolean over) {
		if (over) {
			throw new IllegalStateException(
					"The turn on session " + this.key + " is over: the call was cancelled. Nothing more is run.");
		}
	}

	/**
	 * Returns the write that gives the lease back in the commit that ends the turn. No
	 * tool begins any more.
	 * @return the write; null if the lease is given back later, or if there is none
	 */
	public synchronized @Nullable RecordWrite givingBack() {
		this.ended = true;
		return (this.lease != null) ? this.lease.givingBack() : null;
	}

	/** Ends the lease after the commit that has given it back. */
	public synchronized void givenBack() {
		if (this.lease != null) {
			this.lease.givenBack();
			this.lease = null;
		}
	}

	/** Gives the lease back when the tools are done. No tool begins any more. */
	public void end() {
		TurnLease held = ended();
		if (held != null) {
			held.leave();
		}
	}

	private synchronized @Nullable TurnLease ended() {
		TurnLease held = this.lease;
		this.ended = true;
		this.lease = null;
		return held;
	}

}
