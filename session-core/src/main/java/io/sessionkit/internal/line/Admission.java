package io.sessionkit.internal.line;

import java.util.Set;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

import io.sessionkit.SessionKey;
import io.sessionkit.internal.Renewals;
import io.sessionkit.internal.Uninterrupted;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * The first place of a line: its call works on the session. It is renewed until the call
 * leaves. The commit that leaves is refused if the place was lost, so that a call that
 * was suspended for longer than its place lived changes nothing. Safe for use by many
 * threads.
 */
public final class Admission {

	private static final Log logger = LogFactory.getLog(Admission.class);

	private final Lines lines;

	private final SessionKey key;

	private final String id;

	/** Held while the line is written or about to be left. */
	private final Lock writing = new ReentrantLock();

	private Line line;

	private long revision;

	private boolean lost;

	private boolean over;

	private final ScheduledFuture<?> renewal;

	Admission(Lines lines, SessionKey key, String id, Line line, long revision, Renewals renewals) {
		this.lines = lines;
		this.key = key;
		this.id = id;
		this.line = line;
		this.revision = revision;
		this.renewal = renewals.start(lines.life(), this::renew);
	}

	/**
	 * Creates the write that leaves the line in the commit that ends the turn: the next
	 * call, if one waits, works then.
	 */
	public RecordWrite leaving() {
		this.writing.lock();
		try {
			this.renewal.cancel(false);
			return this.lines.write(this.key, this.line.without(Set.of(this.id)), this.revision);
		}
		finally {
			this.writing.unlock();
		}
	}

	/**
	 * Returns whether the line has changed since {@link #leaving}, and this call still
	 * works. Then the commit that was refused can be made with a new write.
	 */
	public boolean hasChanged() {
		this.writing.lock();
		try {
			long before = this.revision;
			return refresh() && this.revision != before;
		}
		finally {
			this.writing.unlock();
		}
	}

	/**
	 * Returns whether another call was admitted, since this one had not shown in time
	 * that it is there.
	 */
	public boolean isLost() {
		this.writing.lock();
		try {
			return this.lost;
		}
		finally {
			this.writing.unlock();
		}
	}

	/** Ends the admission after the commit that has left the line. */
	public void left() {
		this.writing.lock();
		try {
			this.over = true;
		}
		finally {
			this.writing.unlock();
		}
	}

	/**
	 * Leaves the line, unless it was left already.
	 */
	public void leave() {
		this.renewal.cancel(false);
		try {
			Uninterrupted.call(() -> {
				leaveOnce();
				return null;
			});
		}
		catch (RuntimeException ex) {
			logger.warn("The place of a call on session " + this.key + " could not be given back and ends in "
					+ this.lines.life() + ": " + ex.getClass().getName());
		}
	}

	private void leaveOnce() {
		this.writing.lock();
		try {
			if (!this.over) {
				this.over = true;
				this.lines.remove(this.key, this.id);
			}
		}
		finally {
			this.writing.unlock();
		}
	}

	private void renew() {
		this.writing.lock();
		try {
			if (!this.over && !beat() && !(refresh() && beat())) {
				this.renewal.cancel(false);
			}
		}
		catch (RuntimeException ex) {
			logger.warn(
					"The place of a call on session " + this.key + " could not be renewed: " + ex.getClass().getName());
		}
		finally {
			this.writing.unlock();
		}
	}

	private boolean beat() {
		Line next = this.line.beaten(this.id);
		if (!this.lines.put(this.key, this.lines.write(this.key, next, this.revision))) {
			return false;
		}
		this.line = next;
		this.revision++;
		return true;
	}

	/**
	 * Reads the line.
	 * @return whether this call still works
	 */
	private boolean refresh() {
		SessionRecord record = this.lines.record(this.key);
		if (record == null || !this.lines.line(record).isFirst(this.id)) {
			lost();
			return false;
		}
		this.line = this.lines.line(record);
		this.revision = record.revision();
		return true;
	}

	private void lost() {
		if (!this.lost && !this.over) {
			logger.warn("A call on session " + this.key + " has lost its place in line: it did not show for "
					+ this.lines.life() + " that it is there. Its turn does not become history.");
		}
		this.lost = true;
	}

}
