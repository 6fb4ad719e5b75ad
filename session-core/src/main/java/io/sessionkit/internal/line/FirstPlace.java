package io.sessionkit.internal.line;

import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import io.sessionkit.SessionKey;
import io.sessionkit.internal.Attempts;
import io.sessionkit.internal.DurationText;
import io.sessionkit.internal.OneAfterAnother;
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

	private final OneAfterAnother order;

	/** The line as this call has read or written it last. */
	private final AtomicReference<Known> known;

	/** The line that the last write for a commit has expected. */
	private volatile Expected expected;

	/** The calls that offered their messages when the line was last read for that. */
	private volatile List<String> offered = List.of();

	private volatile boolean lost;

	/** The last time at which this call has shown that it is there. */
	private volatile long beaten = System.nanoTime();

	private final AtomicBoolean reported = new AtomicBoolean();

	private volatile boolean over;

	/**
	 * Set once a transaction of the caller has written this line, and may have locked it:
	 * nobody can write it until that ends, not even this call.
	 */
	private volatile boolean locked;

	/** True until the call is about to leave the line. */
	private volatile boolean renews = true;

	private final Renewals.Renewal renewal;

	/**
	 * A line as it is stored, or was.
	 */
	private record Known(Line line, long revision) {
	}

	/**
	 * The line that a write for a commit relies on.
	 *
	 * @param revision the revision of the line that it replaces
	 * @param since the time at which the write was created
	 */
	private record Expected(long revision, long since) {
	}

	FirstPlace(Lines lines, SessionKey key, LineName name, String id, Line line, long revision, Renewals renewals) {
		this.lines = lines;
		this.key = key;
		this.name = name;
		this.id = id;
		this.order = new OneAfterAnother(lines.life());
		this.known = new AtomicReference<>(new Known(line, revision));
		this.expected = new Expected(revision, this.beaten);
		this.renewal = renewals.start(lines.life(), () -> "The place of a call on session " + key, this::renew,
				this::overdue);
	}

	private Line line() {
		return this.known.get().line();
	}

	/**
	 * Returns the turn that answers the calls of this line, as far as it is stored; null
	 * if there is none.
	 */
	@Nullable Answer answer() {
		return line().answer();
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
		this.offered = this.order.call(() -> refresh() ? line().offering() : List.of());
		return this.offered;
	}

	/**
	 * Takes the messages of calls that were {@link #offering}.
	 * @return false if other calls offer theirs now, or the line has changed, and nothing
	 * was taken
	 */
	boolean take(Collection<String> ids) {
		return this.order.call(() -> {
			Known from = this.known.get();
			Line next = from.line().taken(ids);
			// a renewal may have read meanwhile that a call has left
			return from.line().offering().equals(this.offered) && (next.equals(from.line()) || put(from, next));
		});
	}

	/**
	 * Creates the write that leaves the line in the commit that ends the turn. The next
	 * call, if one waits, works then. In the line of a request the turn answers all who
	 * wait.
	 * @param joined the calls that need not work, since the turn has their messages
	 */
	RecordWrite leaving(Answer turn, Collection<String> joined) {
		return this.order.call(() -> {
			stopRenewal();
			Known from = expect();
			Line next = (this.name.request() != null) ? from.line().answered(turn).left()
					: from.line().without(joined).without(Set.of(this.id));
			return this.lines.writeLeft(this.key, this.name, next, from.revision());
		});
	}

	private Known expect() {
		Known from = this.known.get();
		this.expected = new Expected(from.revision(), System.nanoTime());
		return from;
	}

	private void stopRenewal() {
		this.renews = false;
		this.renewal.cancel();
	}

	/**
	 * Creates the write that goes with a part of a turn. In the line of a request it
	 * stores that this turn answers the request. In the line of the session it shows that
	 * this call is there, so that the part is refused if its place was lost.
	 * @return the write; null if the line of a request has its answer already
	 */
	@Nullable RecordWrite answering(Answer turn) {
		return this.order.<@Nullable RecordWrite>call(() -> {
			Known from = expect();
			Line next = withPart(from.line(), turn);
			if (next == null) {
				return null;
			}
			if (this.lines.mayRollBack()) {
				this.locked = true;
				stopRenewal();
			}
			return this.lines.write(this.key, this.name, next, from.revision());
		});
	}

	private @Nullable Line withPart(Line line, Answer turn) {
		if (this.name.request() == null) {
			// not in a transaction of the caller: this call has to renew its place
			// meanwhile
			return this.lines.mayRollBack() ? null : line.beaten(this.id);
		}
		return (line.answer() == null) ? line.answered(turn) : null;
	}

	/**
	 * Goes on after the commit that has stored a part, unless the line has been read
	 * since.
	 */
	void answered(Answer turn) {
		Expected before = this.expected;
		Known from = this.known.get();
		Line next = (from.revision() == before.revision()) ? withPart(from.line(), turn) : null;
		if (next != null && this.known.compareAndSet(from, new Known(next, from.revision() + 1))
				&& isInLineOfSession()) {
			this.beaten = before.since();
		}
	}

	/**
	 * Reads the line again after a commit was refused.
	 * @param turn the turn that this call works on
	 * @return whether this call still works
	 */
	boolean isStillFirst(Answer turn) {
		return this.order.call(() -> refresh() || isAnsweredBy(turn));
	}

	/**
	 * Returns whether the line is not the one that the last write for a commit has
	 * expected.
	 */
	boolean hasChanged() {
		return this.known.get().revision() != this.expected.revision();
	}

	/**
	 * Returns whether the place is gone: this call had not shown in time that it is
	 * there, or the store has lost it.
	 * @param turn the turn that this call works on
	 */
	boolean isLost(Answer turn) {
		return this.lost && !isAnsweredBy(turn);
	}

	/**
	 * Returns whether the line of a request was left by the turn that this call works on:
	 * its messages had joined that turn, which answers the request with each of its
	 * parts.
	 */
	private boolean isAnsweredBy(Answer turn) {
		Line line = line();
		Answer there = line.answer();
		return line.isAnswered() && there != null && there.turn().equals(turn.turn());
	}

	/** Ends the place after the commit that has left the line. */
	void left() {
		this.over = true;
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
		stopRenewal();
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
		this.order.run(() -> {
			if (!this.over && !this.locked) {
				leaving.run();
			}
			this.over = true;
		});
	}

	/**
	 * A renewal does not come back from the store. The call learns with its next write
	 * what has become of its place.
	 */
	private void overdue() {
		boolean late = System.nanoTime() - this.beaten > this.lines.life().toNanos();
		if (this.renews && late && this.reported.compareAndSet(false, true)) {
			logger.warn("The place of a call on session " + this.key + " was not renewed for "
					+ DurationText.of(this.lines.life())
					+ ". Its turn does not become history if another call was admitted meanwhile.");
			this.lines.lost();
		}
	}

	/**
	 * Others write the line too, so a beat may need many attempts, or the next time.
	 * Commits of this call need not wait for all of them.
	 */
	private void renew() {
		Attempts.SOME.until(() -> this.order.call(this::isRenewed));
	}

	/** Returns whether the beat is stored, or this call works no longer. */
	private boolean isRenewed() {
		if (!this.renews || beat()) {
			return true;
		}
		Line now = read();
		boolean first = now.isFirst(this.id);
		if (!first) {
			unlessLeaving(now);
			stopRenewal();
		}
		return !first;
	}

	/** A commit that leaves the line may have been stored beside this renewal. */
	private void unlessLeaving(Line now) {
		if (this.renews) {
			lost(now);
		}
	}

	private boolean beat() {
		Known from = this.known.get();
		return put(from, from.line().beaten(this.id));
	}

	/** A line that was read or written beside this write is newer. */
	private boolean put(Known from, Line next) {
		long now = System.nanoTime();
		if (!this.lines.put(this.key, this.lines.write(this.key, this.name, next, from.revision()))) {
			return false;
		}
		if (this.known.compareAndSet(from, new Known(next, from.revision() + 1))) {
			this.beaten = now;
		}
		return true;
	}

	/**
	 * Reads the line.
	 * @return whether this call still works
	 */
	private boolean refresh() {
		Line now = read();
		boolean first = now.isFirst(this.id);
		if (!first) {
			lost(now);
		}
		return first;
	}

	/** Reads the line, and remembers it as long as it is that of this call. */
	private Line read() {
		Known before = this.known.get();
		SessionRecord record = this.lines.record(this.key, this.name);
		Line now = (record != null) ? this.lines.line(record) : Line.NOBODY;
		if (record != null && (now.isFirst(this.id) || now.isAnswered())) {
			this.known.compareAndSet(before, new Known(now, record.revision()));
		}
		return now;
	}

	/**
	 * A call whose messages have joined a turn learns of that soon, and works no more.
	 * Whoever erases a session takes its lines too.
	 */
	private void lost(Line now) {
		boolean unreported = !this.lost && !this.over && !now.isAnswered();
		if (unreported && this.lines.isAbsent(this.key)) {
			// erased, or begun in a transaction that only the thread of the call sees
			return;
		}
		if (unreported && this.reported.compareAndSet(false, true)) {
			logger.warn("A call on session " + this.key + " has lost its place in line. That happens if it"
					+ " cannot show for " + DurationText.of(this.lines.life()) + " that it is there, and if the store"
					+ " loses what it holds. The call adds nothing more to the history; another one may continue what is"
					+ " stored of its turn.");
			this.lines.lost();
		}
		this.lost = true;
	}

}
