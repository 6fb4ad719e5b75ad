package io.sessionkit.internal.line;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

import io.sessionkit.Concurrency;
import io.sessionkit.IdempotencyKeyException;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionLostException;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.internal.DurationText;
import io.sessionkit.internal.Renewals;
import io.sessionkit.internal.Uninterrupted;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.StoreUnavailableException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * A call that has come to a line and does not work yet. It looks at the line from time to
 * time, since no store tells it when the line moves. Used by one thread at a time, as its
 * {@link Arrival} sees to.
 */
final class Wait {

	private static final Log logger = LogFactory.getLog(Wait.class);

	private static final Duration FIRST_PAUSE = Duration.ofMillis(10);

	private static final Duration LONGEST_PAUSE = Duration.ofMillis(200);

	/** For the call whose turn is next. */
	private static final Duration LONGEST_PAUSE_OF_NEXT = Duration.ofMillis(50);

	private final Lines lines;

	private final SessionKey key;

	private final LineName name;

	private final String id;

	private final Concurrency concurrency;

	private final Duration timeout;

	/** The header of a session that begins with the line; null if it may not. */
	private final @Nullable HeaderChange beginning;

	/** Null if the call offers nothing to the turn at work. */
	private final @Nullable OwnOffer offer;

	/** Held while the offer is used by a look, or later by another thread. */
	private final Lock offering = new ReentrantLock();

	private final LineWatch watch;

	/** The time at which the call joined the line; null until it has looked. */
	private @Nullable Long since;

	private Duration pause = FIRST_PAUSE;

	/** The last time at which this call has shown that it is there; null for never. */
	private @Nullable Long beat;

	/** True if the store failed when this call looked last. */
	private boolean failing;

	private boolean inLine;

	/** The calls that stood before this one when it looked last. */
	private int before;

	private @Nullable Answer answer;

	/** True if there is no session that this call could wait in. */
	private boolean absent;

	/** The next line in which the call stands; null if this is the last one. */
	private @Nullable Wait next;

	/** The place that has begun with the session; null if it has to be taken. */
	private @Nullable FirstPlace begun;

	private int looks;

	/** True if a call that stood in line was found to be gone. */
	private boolean foundGone;

	private boolean over;

	/** True if a turn had the messages of this call when it left. */
	private boolean joined;

	/**
	 * What the store has thrown when this call left, if nobody knows whether a turn has
	 * its messages; else null.
	 */
	private @Nullable RuntimeException unknown;

	Wait(Lines lines, SessionKey key, LineName name, String id, Concurrency concurrency, Duration timeout,
			@Nullable HeaderChange beginning, @Nullable OwnOffer offer) {
		this.lines = lines;
		this.key = key;
		this.name = name;
		this.id = id;
		this.concurrency = concurrency;
		this.timeout = timeout;
		this.beginning = beginning;
		this.offer = offer;
		this.watch = new LineWatch(System::nanoTime);
	}

	/** Sets the line in which the call stands behind this one. */
	void before(Wait next) {
		this.next = next;
	}

	/**
	 * Looks whether it is this call's turn. The first look joins the line.
	 * @return the first place, which the call must end by leaving; null if it has to
	 * wait, if there is an {@link #answer}, and once it has left
	 * @throws TurnInProgressException if others work and this call does not wait, or if
	 * it has waited too long
	 * @throws IdempotencyKeyException if the others in line ask something else
	 * @throws SessionLostException if the session was erased while this call waited
	 */
	@Nullable FirstPlace look() {
		this.offering.lock();
		try {
			return this.over ? null : looked();
		}
		finally {
			this.offering.unlock();
		}
	}

	private @Nullable FirstPlace looked() {
		came();
		FirstPlace place = found();
		if (place != null || this.answer != null || this.absent) {
			this.over = true;
			return place;
		}
		if (isOverdue() && !isInTurn()) {
			this.over = true;
			forget();
			throw new TurnInProgressException("The call on session " + this.key + " has waited "
					+ DurationText.of(this.timeout) + " for the calls before it. Nothing was run; try again, or raise"
					+ " sessionkit.concurrency-timeout.");
		}
		return null;
	}

	/**
	 * Returns whether the turn at work has the messages of this call, which then waits
	 * for that turn as its first call does. If not, this call leaves the line.
	 * @throws RuntimeException what the store has thrown, if nobody knows
	 */
	private boolean isInTurn() {
		try {
			return this.offer != null && this.offer.isTaken() || this.lines.removeUntaken(this.key, this.name, this.id)
					|| isInStoredTurn();
		}
		catch (RuntimeException ex) {
			notLeft(ex);
			if (this.offer != null && this.offer.isOffered()) {
				this.over = true;
				throw ex;
			}
			return false;
		}
	}

	private long came() {
		long came = (this.since != null) ? this.since : System.nanoTime();
		this.since = came;
		return came;
	}

	/**
	 * Returns the turn that answers this call, so that it need not work.
	 * @return the turn; null if none is known
	 */
	@Nullable Answer answer() {
		return this.answer;
	}

	/**
	 * Returns whether there is no session, and this call must not begin it. It then need
	 * not wait, and fails for its own reasons.
	 */
	boolean isAbsent() {
		return this.absent;
	}

	/** Returns whether this is the line of all calls on the session. */
	boolean isInLineOfSession() {
		return this.name.request() == null;
	}

	/** Returns whether others were before this call when it came. */
	boolean hasWaited() {
		return this.looks > 1;
	}

	/**
	 * Returns whether this call has found out that another one is gone, whose process was
	 * killed.
	 */
	boolean hasFoundGone() {
		return this.foundGone;
	}

	/** Returns whether this call has waited for as long as it may. */
	boolean isOverdue() {
		return System.nanoTime() - came() > this.timeout.toNanos();
	}

	/** If the store fails for longer, the call does not stay in line. */
	private @Nullable FirstPlace found() {
		this.looks++;
		try {
			return unlessInTurn(placeIfReachable());
		}
		catch (Throwable ex) {
			leave();
			throw ex;
		}
	}

	/**
	 * A store that is away for a moment is asked again while the place lasts. In a
	 * transaction of the caller nothing else would be answered.
	 */
	private @Nullable FirstPlace placeIfReachable() {
		try {
			FirstPlace place = place();
			this.failing = false;
			return place;
		}
		catch (StoreUnavailableException ex) {
			if (this.answer != null || !isPlaceAlive() || isOverdueAlone() || this.lines.mayRollBack()) {
				throw ex;
			}
			failed(ex);
			return null;
		}
	}

	private @Nullable FirstPlace place() {
		SessionRecord line = this.inLine ? this.lines.record(this.key, this.name) : null;
		if (line == null && this.inLine) {
			if (isAnswered(Line.NOBODY)) {
				return null;
			}
			checkNotErased();
		}
		return (line != null) ? in(line) : taken();
	}

	/** Nobody knows by then whether the turn at work has the messages of this call. */
	private boolean isOverdueAlone() {
		return isOverdue() && (this.offer == null || !this.offer.isTaken());
	}

	/** Others take this call out of the line when it has not shown for its life. */
	private boolean isPlaceAlive() {
		Long shown = this.beat;
		return shown != null && System.nanoTime() - shown < this.lines.life().toNanos();
	}

	/** Logged once until the store is back. */
	private void failed(StoreUnavailableException ex) {
		if (!this.failing) {
			logger.warn("The line of session " + this.key + " could not be read by a call that waits in it, which is"
					+ " tried again: " + ex.getClass().getName());
		}
		this.failing = true;
	}

	/**
	 * Refuses to begin a session again in which this call has stood in line: whoever has
	 * erased it did not expect what was asked before.
	 */
	private void checkNotErased() {
		if (this.beginning != null && this.lines.isAbsent(this.key)) {
			throw new SessionLostException(this.key);
		}
	}

	/** A call need not work if a turn that is stored has its messages. */
	private @Nullable FirstPlace unlessInTurn(@Nullable FirstPlace first) {
		if (first == null || this.offer == null) {
			return first;
		}
		boolean works = false;
		try {
			this.answer = this.offer.withdrawn();
			works = this.answer == null;
		}
		finally {
			if (!works) {
				first.leave();
				forget();
			}
		}
		return works ? first : null;
	}

	/** Takes the first place if there is no line; if there is one, joins it. */
	private @Nullable FirstPlace taken() {
		if (this.begun != null) {
			return this.begun;
		}
		FirstPlace free = this.lines.take(this.key, this.name, this.id, this.next == null);
		if (free != null) {
			return free;
		}
		SessionRecord line = this.lines.record(this.key, this.name);
		if (line != null) {
			return in(line);
		}
		if (this.beginning == null) {
			this.absent = this.lines.isAbsent(this.key);
			return null;
		}
		return begun(this.beginning);
	}

	/**
	 * Begins the session. In a transaction of the caller that takes the place in the next
	 * line too: what is written beside it would not see the session.
	 */
	private @Nullable FirstPlace begun(HeaderChange header) {
		Wait behind = this.lines.mayRollBack() ? this.next : null;
		List<LineName> names = (behind != null) ? List.of(this.name, behind.name) : List.of(this.name);
		List<FirstPlace> places = this.lines.begin(this.key, names, this.id, header);
		if (places.isEmpty()) {
			return null;
		}
		if (behind != null) {
			behind.begun = places.get(1);
		}
		return places.get(0);
	}

	private @Nullable FirstPlace in(SessionRecord record) {
		Line now = this.lines.line(record);
		if (this.concurrency == Concurrency.REJECT) {
			this.over = true;
			throw rejected(now);
		}
		checkContent(now);
		if (now.isAnswered()) {
			this.answer = now.answer();
			return null;
		}
		if (isAnswered(now)) {
			return null;
		}
		if (now.isFirst(this.id)) {
			return this.lines.admit(this.key, this.name, this.id, now, record.revision());
		}
		return joined(now, record.revision());
	}

	private TurnInProgressException rejected(Line now) {
		return new TurnInProgressException("Another call works on session " + this.key
				+ ". Nothing was run by this one; call again when the other one is done, or let it wait with"
				+ " sessionkit.concurrency=serialize. The place of a process that was killed is free after "
				+ DurationText.of(now.life(this.lines.life())) + ".");
	}

	private boolean isAnswered(Line now) {
		this.answer = (this.offer != null) ? this.offer.look(now) : null;
		if (this.answer == null) {
			return false;
		}
		if (now.has(this.id)) {
			this.lines.remove(this.key, this.name, this.id);
		}
		forget();
		return true;
	}

	private void checkContent(Line now) {
		if (!Objects.equals(now.content(), this.name.content())) {
			throw new IdempotencyKeyException("An earlier call on session " + this.key
					+ " had the same idempotency key and other messages, another agent or another place to begin at."
					+ " Nothing was run. Give each request a key of its own, and repeat it as it was.");
		}
	}

	/** Stands in line, or shows that it still does, and leaves out who is gone. */
	private @Nullable FirstPlace joined(Line now, long revision) {
		this.inLine = true;
		this.before = now.before(this.id);
		Set<String> gone = this.watch.gone(now);
		gone.remove(this.id);
		this.foundGone |= !gone.isEmpty();
		Line next = now.without(gone);
		boolean shows = !next.has(this.id) || isToShow();
		if (shows) {
			next = next.has(this.id) ? next.beaten(this.id).marked(this.id, mark())
					: next.with(this.id, mark(), this.lines.life());
		}
		if (next.equals(now) || !this.lines.put(this.key, this.lines.write(this.key, this.name, next, revision))) {
			return null;
		}
		if (shows) {
			this.beat = System.nanoTime();
		}
		return next.isFirst(this.id) ? this.lines.admit(this.key, this.name, this.id, next, revision + 1) : null;
	}

	private boolean isToShow() {
		Long shown = this.beat;
		return shown == null || System.nanoTime() - shown > Renewals.period(this.lines.life()).toNanos();
	}

	/**
	 * Stores what this call offers, before the line says that it is offered. If the store
	 * fails, the call only waits, and tries again when it next shows that it is there.
	 * @return the mark of its ticket
	 */
	private Line.Mark mark() {
		try {
			return (this.offer != null && this.offer.isStored()) ? Line.Mark.OFFERED : Line.Mark.NONE;
		}
		catch (StoreUnavailableException ex) {
			logger.warn("What a call that waits on session " + this.key + " offers could not be stored yet: "
					+ ex.getClass().getName());
			return Line.Mark.NONE;
		}
	}

	/**
	 * Returns how long to wait until the next look, a little longer each time.
	 */
	Duration pause() {
		Duration longest = (this.before <= 1) ? LONGEST_PAUSE_OF_NEXT : LONGEST_PAUSE;
		Duration now = (this.pause.compareTo(longest) < 0) ? this.pause : longest;
		this.pause = now.multipliedBy(3).dividedBy(2);
		return now;
	}

	/**
	 * Looks once more, for a call that is about to leave, whether a turn that is stored
	 * has its messages. If one has, this call leaves the line.
	 * @return the turn that answers this call; null if it has to leave without, or if the
	 * store fails
	 */
	@Nullable Answer answerAtLast() {
		Answer known = this.over ? null : answerIfReadable();
		if (known != null) {
			this.answer = known;
			leave();
		}
		return known;
	}

	private @Nullable Answer answerIfReadable() {
		try {
			return (this.offer != null) ? this.offer.answer() : null;
		}
		catch (RuntimeException ex) {
			logger
				.debug("The offer of a call on session " + this.key + " could not be read: " + ex.getClass().getName());
			return null;
		}
	}

	/**
	 * Leaves the line, unless this call has the first place. If a turn has its messages,
	 * which is at work or was stored meanwhile, they stay in that turn.
	 * @return whether one has them; if the store fails, whether one had them when this
	 * call looked last
	 */
	boolean leave() {
		if (!this.over && this.since != null) {
			this.over = true;
			this.joined = leaving();
		}
		return this.joined;
	}

	private boolean leaving() {
		try {
			return Uninterrupted.call(this::left);
		}
		catch (RuntimeException ex) {
			notLeft(ex);
			boolean taken = this.offer != null && this.offer.isTaken();
			this.unknown = (this.offer != null && this.offer.isOffered() && !taken) ? ex : null;
			return taken;
		}
	}

	/**
	 * Returns what the store has thrown when this call left, if nobody knows whether a
	 * turn has its messages; else null.
	 */
	@Nullable RuntimeException unknown() {
		return this.unknown;
	}

	private boolean left() {
		boolean taken = this.lines.remove(this.key, this.name, this.id) || isInStoredTurn();
		forget();
		return taken;
	}

	/** The commit of a turn takes the tickets of those out whose messages it has. */
	private boolean isInStoredTurn() {
		return this.offer != null && this.offer.answer() != null;
	}

	/** Deletes the offer. If that fails, the offer expires. */
	private void forget() {
		try {
			if (this.offer != null) {
				this.offer.forget();
			}
		}
		catch (RuntimeException ex) {
			logger.debug(
					"The offer of a call on session " + this.key + " could not be deleted: " + ex.getClass().getName());
		}
	}

	/** One that stood in no line, as far as it knows, has nobody behind it. */
	private void notLeft(RuntimeException ex) {
		if (this.inLine) {
			logger
				.warn("A call could not leave the line of session " + this.key + ", which is tried again; it stays for "
						+ DurationText.of(this.lines.life()) + " at the longest: " + ex.getClass().getName());
		}
		this.lines.leaveLater(this::leaveLater);
	}

	/** The look that could not leave may not have ended yet. */
	private void leaveLater() {
		this.offering.lock();
		try {
			left();
		}
		finally {
			this.offering.unlock();
		}
	}

}
