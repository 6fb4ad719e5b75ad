package io.sessionkit.internal.line;

import java.time.Duration;
import java.util.Set;

import io.sessionkit.Concurrency;
import io.sessionkit.SessionKey;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.internal.Renewals;
import io.sessionkit.store.SessionRecord;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * A call that has come to a session and does not work there yet. It looks at the line
 * from time to time, since no store tells it when the line moves. Safe for use by many
 * threads: one looks, and another one may leave.
 */
public final class Arrival {

	private static final Log logger = LogFactory.getLog(Arrival.class);

	private static final Duration FIRST_PAUSE = Duration.ofMillis(10);

	private static final Duration LONGEST_PAUSE = Duration.ofMillis(200);

	/** For the call whose turn is next. */
	private static final Duration LONGEST_PAUSE_OF_NEXT = Duration.ofMillis(50);

	private final Lines lines;

	private final SessionKey key;

	private final String id;

	private final Concurrency concurrency;

	private final Duration timeout;

	private final LineWatch watch;

	private final long since = System.nanoTime();

	private Duration pause = FIRST_PAUSE;

	/** The last time at which this call has shown that it is there. */
	private long beat;

	private boolean inLine;

	/** The calls that stood before this one when it looked last. */
	private int before;

	private boolean over;

	Arrival(Lines lines, SessionKey key, String id, Concurrency concurrency, Duration timeout) {
		this.lines = lines;
		this.key = key;
		this.id = id;
		this.concurrency = concurrency;
		this.timeout = timeout;
		this.watch = new LineWatch(lines.life(), System::nanoTime);
	}

	/**
	 * Waits until it is this call's turn.
	 * @return the admission, which the call must end by leaving
	 * @throws TurnInProgressException if others work and this call does not wait, if it
	 * has waited too long, or if it is interrupted
	 */
	public Admission await() {
		Admission admission = look();
		while (admission == null) {
			try {
				Thread.sleep(pause().toMillis());
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				leave();
				throw new TurnInProgressException("The call on session " + this.key
						+ " was interrupted while it waited for the calls before it. Nothing was run.");
			}
			admission = look();
		}
		return admission;
	}

	/**
	 * Looks whether it is this call's turn. The first look joins the line.
	 * @return the admission, which the call must end by leaving; null if it has to wait,
	 * and once it has left
	 * @throws TurnInProgressException if others work and this call does not wait, or if
	 * it has waited too long
	 */
	public synchronized @Nullable Admission look() {
		if (this.over) {
			return null;
		}
		Admission admission = found();
		if (admission != null) {
			this.over = true;
			return admission;
		}
		if (System.nanoTime() - this.since > this.timeout.toNanos()) {
			leave();
			throw new TurnInProgressException("The call on session " + this.key + " has waited " + this.timeout
					+ " for the calls before it. Nothing was run; try again, or raise"
					+ " sessionkit.concurrency-timeout.");
		}
		return null;
	}

	/** If the store fails, the call does not stay in line. */
	private @Nullable Admission found() {
		try {
			SessionRecord record = this.inLine ? this.lines.record(this.key) : null;
			Admission free = (record == null) ? this.lines.take(this.key, this.id) : null;
			if (free != null) {
				return free;
			}
			return in((record != null) ? record : this.lines.record(this.key));
		}
		catch (RuntimeException ex) {
			leave();
			throw ex;
		}
	}

	private @Nullable Admission in(@Nullable SessionRecord record) {
		if (record == null) {
			return null;
		}
		if (this.concurrency == Concurrency.REJECT) {
			this.over = true;
			throw new TurnInProgressException("Another call works on session " + this.key
					+ ". Nothing was run by this one; call again when the other one is done, or let it wait with"
					+ " sessionkit.concurrency=serialize. The place of a process that was killed is free after "
					+ this.lines.life() + ".");
		}
		Line now = this.lines.line(record);
		if (now.isFirst(this.id)) {
			return this.lines.admit(this.key, this.id, now, record.revision());
		}
		return joined(now, record.revision());
	}

	/** Stands in line, or shows that it still does, and leaves out who is gone. */
	private @Nullable Admission joined(Line now, long revision) {
		this.inLine = true;
		this.before = now.before(this.id);
		Set<String> gone = this.watch.gone(now);
		gone.remove(this.id);
		Line next = now.without(gone);
		boolean shows = !next.has(this.id)
				|| System.nanoTime() - this.beat > Renewals.period(this.lines.life()).toNanos();
		if (shows) {
			next = next.has(this.id) ? next.beaten(this.id) : next.with(this.id);
		}
		if (next.equals(now) || !this.lines.put(this.key, this.lines.write(this.key, next, revision))) {
			return null;
		}
		this.beat = shows ? System.nanoTime() : this.beat;
		return next.isFirst(this.id) ? this.lines.admit(this.key, this.id, next, revision + 1) : null;
	}

	/**
	 * Returns how long to wait until the next look, a little longer each time.
	 */
	public synchronized Duration pause() {
		Duration longest = (this.before <= 1) ? LONGEST_PAUSE_OF_NEXT : LONGEST_PAUSE;
		Duration now = (this.pause.compareTo(longest) < 0) ? this.pause : longest;
		this.pause = now.multipliedBy(3).dividedBy(2);
		return now;
	}

	/**
	 * Leaves the line, unless this call was admitted.
	 */
	public synchronized void leave() {
		if (this.over) {
			return;
		}
		this.over = true;
		try {
			this.lines.remove(this.key, this.id);
		}
		catch (RuntimeException ex) {
			logger.warn("A call could not leave the line of session " + this.key + ", where it stays for "
					+ this.lines.life() + ": " + ex.getClass().getName());
		}
	}

}
