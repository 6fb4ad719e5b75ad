package io.sessionkit.internal.turn;

import java.util.function.Supplier;

import io.sessionkit.Turn;
import io.sessionkit.internal.lease.SessionLife;
import io.sessionkit.internal.lease.ToolLease;
import io.sessionkit.internal.line.Admission;
import io.sessionkit.internal.line.Drain;
import org.jspecify.annotations.Nullable;

/**
 * The lease, the place in line, the work of this process, the life of the session and the
 * child sessions of one call, which it gives back when it ends. Safe for use by many
 * threads.
 */
final class SessionUse {

	private final ToolLease lease;

	private final SessionLife life;

	/** The sessions that are erased when the call ends. */
	private final TurnChildren children = new TurnChildren();

	/** Null if the call does not stand in line. */
	private final @Nullable Admission admission;

	/** Null if the call does not count as work of this process. */
	private volatile Drain.@Nullable Work work;

	SessionUse(ToolLease lease, SessionLife life, @Nullable Admission admission) {
		this.lease = lease;
		this.life = life;
		this.admission = admission;
	}

	ToolLease lease() {
		return this.lease;
	}

	TurnChildren children() {
		return this.children;
	}

	/** Returns the admission of the call; null if it does not stand in line. */
	@Nullable Admission admission() {
		return this.admission;
	}

	/** Begins the work of this process, during which the session does not expire. */
	void atWork(Drain.Work counted) {
		this.work = counted;
		this.life.begin();
	}

	/** Notes that the turn stops at a step, since its process shuts down. */
	void handedOver() {
		Drain.Work counted = this.work;
		if (counted != null) {
			counted.handedOver();
		}
	}

	/**
	 * Gives back everything, in this order, whatever fails of it.
	 * @param stored supplies the turn as it was last stored; asked if the call stands in
	 * line
	 * @param left tells listeners that lease and place in line are given back
	 * @param outer ends the session with the turn around this one
	 */
	void end(Supplier<@Nullable Turn> stored, Runnable left, Runnable outer) {
		try {
			this.lease.end();
		}
		finally {
			try {
				leaveLine(stored, left);
			}
			finally {
				this.children.end();
				outer.run();
			}
		}
	}

	private void leaveLine(Supplier<@Nullable Turn> stored, Runnable left) {
		this.life.end();
		try {
			if (this.admission != null) {
				leave(this.admission, stored.get());
			}
		}
		finally {
			endWork(left);
		}
	}

	private void endWork(Runnable left) {
		Drain.Work counted = this.work;
		try {
			left.run();
		}
		finally {
			if (counted != null) {
				counted.close();
			}
		}
	}

	private static void leave(Admission known, @Nullable Turn stored) {
		if (stored != null && !stored.status().isOpen()) {
			known.end();
		}
		else {
			known.leave();
		}
	}

}
