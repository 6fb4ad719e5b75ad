package io.sessionkit.internal.line;

import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

import io.sessionkit.SessionKey;
import io.sessionkit.internal.Attempts;
import io.sessionkit.internal.DurationText;
import io.sessionkit.internal.Renewals;
import io.sessionkit.internal.Uninterrupted;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The first place of a line: its call works. It is renewed until the call leaves. The
 * commit that leaves is refused if the place was lost, so that a call that was suspended
 * for longer than its place lived changes nothing. Safe for use by many threads.
 */
final class FirstPlace {

	private static final Log logger = LogFactory.getLog(FirstPlace.class);

	private final Lines lines;

	private final SessionKey key;

	private final LineName name;

	private final String id;

	/** Held while the line is written or about to be left. */
	private final Lock writing = new ReentrantLock();

	private Line line;

	private long revision;

	/** The revision that the last write for a commit has expected. */
	private long expected;

	private boolean lost;

	/** The last time at which this call has shown that it is there. */
	private volatile long beaten = System.nanoTime();

	private final AtomicBoolean reported = new AtomicBoolean();

	private boolean over;

	/**
	 * Set once a transaction of the caller has written this line, and may have locked it:
	 * nobody can write it until that ends, not even this call.
	 */
	private boolean locked;

	private final Renewals.Renewal renewal;

	FirstPlace(Lines lines, SessionKey key, LineName name, String id, Line line, long revision, Renewals renewals) {
		this.lines = lines;
		this.key = key;
		this.name = name;
		this.id = id;
		this.line = line;
		this.revision = revision;
		this.renewal = renewals.start(lines.life(), () -> "The place of a call on session " + key, this::renew,
				this::overdue);
	}

	/**
	 * Returns the turn that answers the calls of this line, as far as it is stored; null
	 * if there is none.
	 */
	@Nullable Answer answer() {
		this.writing.lock();
		try {
			return this.line.answer();
		}
		finally {
			this.writing.unlock();
		}
	}

	/**
	 * Returns the turn that answers the calls of this line, as it is stored now; null if
	 * there is none.
	 */
	@Nullable Answer answerNow() {
		SessionRecord record = this.lines.record(this.key, this.name);
		return (record != null) ? this.lines.line(record).answer() : null;
	}

	/** Returns whether all calls on the session stand in this line. */
	boolean isInLineOfSession() {
		return this.name.request() == null;
	}

	/**
	 * Reads which calls offer their messages to the turn of this one, in the order of
	 * their arrival.
	 */
	List<String> offering() {
		this.writing.lock();
		try {
			if (!refresh()) {
				return List.of();
			}
			return this.line.offering();
		}
		finally {
			this.writing.unlock();
		}
	}

	/**
	 * Takes the messages of calls that were {@link #offering}.
	 * @return false if the line has changed since, and nothing was taken
	 */
	boolean take(Collection<String> ids) {
		this.writing.lock();
		try {
			Line next = this.line.taken(ids);
			return next.equals(this.line) || put(next);
		}
		finally {
			this.writing.unlock();
		}
	}

	/**
	 * Creates the write that leaves the line in the commit that ends the turn. The next
	 * call, if one waits, works then. In the line of a request the turn answers all who
	 * wait.
	 * @param joined the calls that need not work, since the turn has their messages
	 */
	RecordWrite leaving(Answer turn, Collection<String> joined) {
		this.writing.lock();
		try {
			this.renewal.cancel();
			this.expected = this.revision;
			Line next = (this.name.request() != null) ? this.line.answered(turn).left()
					: this.line.without(joined).without(Set.of(this.id));
			return this.lines.writeLeft(this.key, this.name, next, this.revision);
		}
		finally {
			this.writing.unlock();
		}
	}

	/**
	 * Creates the write that goes with a part of a turn. In the line of a request it
	 * stores that this turn answers the request. In the line of the session it shows that
	 * this call is there, so that the part is refused if its place was lost.
	 * @return the write; null if the line of a request has its answer already
	 */
	@Nullable RecordWrite answering(Answer turn) {
		this.writing.lock();
		try {
			this.expected = this.revision;
			Line next = withPart(turn);
			if (next == null) {
				return null;
			}
			if (this.lines.mayRollBack()) {
				this.locked = true;
				this.renewal.cancel();
			}
			return this.lines.write(this.key, this.name, next, this.revision);
		}
		finally {
			this.writing.unlock();
		}
	}

	private @Nullable Line withPart(Answer turn) {
		if (this.name.request() == null) {
			// not in a transaction of the caller: this call has to renew its place
			// meanwhile
			return this.lines.mayRollBack() ? null : this.line.beaten(this.id);
		}
		return (this.line.answer() == null) ? this.line.answered(turn) : null;
	}

	/**
	 * Goes on after the commit that has stored a part, unless the line has been read
	 * since.
	 */
	void answered(Answer turn) {
		this.writing.lock();
		try {
			Line next = (this.revision == this.expected) ? withPart(turn) : null;
			if (next != null) {
				this.line = next;
				this.revision = this.expected + 1;
			}
		}
		finally {
			this.writing.unlock();
		}
	}

	/**
	 * Reads the line again after a commit was refused.
	 * @param turn the turn that this call works on
	 * @return whether this call still works
	 */
	boolean isStillFirst(Answer turn) {
		this.writing.lock();
		try {
			return refresh() || isAnsweredBy(turn);
		}
		finally {
			this.writing.unlock();
		}
	}

	/**
	 * Returns whether the line is not the one that the last write for a commit has
	 * expected.
	 */
	boolean hasChanged() {
		this.writing.lock();
		try {
			return this.revision != this.expected;
		}
		finally {
			this.writing.unlock();
		}
	}

	/**
	 * Returns whether the place is gone: this call had not shown in time that it is
	 * there, or the store has lost it.
	 * @param turn the turn that this call works on
	 */
	boolean isLost(Answer turn) {
		this.writing.lock();
		try {
			return this.lost && !isAnsweredBy(turn);
		}
		finally {
			this.writing.unlock();
		}
	}

	/**
	 * Returns whether the line of a request was left by the turn that this call works on:
	 * its messages had joined that turn, which answers the request with each of its
	 * parts.
	 */
	private boolean isAnsweredBy(Answer turn) {
		Answer there = this.line.answer();
		return this.line.isAnswered() && there != null && there.turn().equals(turn.turn());
	}

	/** Ends the place after the commit that has left the line. */
	void left() {
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
	void leave() {
		leave(() -> this.lines.remove(this.key, this.name, this.id));
	}

	/**
	 * Leaves the line after the turn of the call has ended, unless it was left already.
	 * The answer to a request is then remembered for its time only.
	 */
	void end() {
		leave(() -> this.lines.end(this.key, this.name, this.id));
	}

	private void leave(Runnable leaving) {
		this.renewal.cancel();
		try {
			Uninterrupted.call(() -> {
				leaveOnce(leaving);
				return null;
			});
		}
		catch (RuntimeException ex) {
			logger.warn("The place of a call on session " + this.key
					+ " could not be given back, which is tried again; it ends in " + DurationText.of(this.lines.life())
					+ " at the latest: " + ex.getClass().getName());
			this.lines.leaveLater(() -> leaveOnce(leaving));
		}
	}

	private void leaveOnce(Runnable leaving) {
		this.writing.lock();
		try {
			if (!this.over && !this.locked) {
				leaving.run();
			}
			this.over = true;
		}
		finally {
			this.writing.unlock();
		}
	}

	/**
	 * A renewal does not come back from the store, and so has the lock. The call learns
	 * at its commit what has become of its place.
	 */
	private void overdue() {
		if (System.nanoTime() - this.beaten > this.lines.life().toNanos() && this.reported.compareAndSet(false, true)) {
			logger.warn("The place of a call on session " + this.key + " was not renewed for "
					+ DurationText.of(this.lines.life())
					+ ". Its turn does not become history if another call was admitted meanwhile.");
			this.lines.lost();
		}
	}

	private void renew() {
		this.writing.lock();
		try {
			if (!this.over && !beat() && !beatAgain()) {
				this.renewal.cancel();
			}
		}
		finally {
			this.writing.unlock();
		}
	}

	/**
	 * Others write the line too, so a beat may need several attempts, or the next time.
	 * @return false if this call no longer works
	 */
	private boolean beatAgain() {
		for (int attempt = 0; attempt < Attempts.FEW.most(); attempt++) {
			if (!refresh()) {
				return false;
			}
			if (beat()) {
				return true;
			}
		}
		return true;
	}

	private boolean beat() {
		return put(this.line.beaten(this.id));
	}

	private boolean put(Line next) {
		long now = System.nanoTime();
		if (!this.lines.put(this.key, this.lines.write(this.key, this.name, next, this.revision))) {
			return false;
		}
		this.line = next;
		this.revision++;
		this.beaten = now;
		return true;
	}

	/**
	 * Reads the line.
	 * @return whether this call still works
	 */
	private boolean refresh() {
		SessionRecord record = this.lines.record(this.key, this.name);
		Line now = (record != null) ? this.lines.line(record) : Line.NOBODY;
		boolean first = now.isFirst(this.id);
		if (record != null && (first || now.isAnswered())) {
			this.line = now;
			this.revision = record.revision();
		}
		if (!first) {
			lost(now);
		}
		return first;
	}

	/**
	 * A call whose messages have joined a turn learns of that soon, and works no more.
	 * Whoever erases a session takes its lines too.
	 */
	private void lost(Line now) {
		if (!this.lost && !this.over && !now.isAnswered() && !this.lines.isAbsent(this.key)
				&& this.reported.compareAndSet(false, true)) {
			logger.warn("A call on session " + this.key + " has lost its place in line. That happens if it"
					+ " cannot show for " + DurationText.of(this.lines.life()) + " that it is there, and if the store"
					+ " loses what it holds. The call adds nothing more to the history; another one may continue what is"
					+ " stored of its turn.");
			this.lines.lost();
		}
		this.lost = true;
	}

}
