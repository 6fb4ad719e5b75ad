package io.sessionkit.internal.line;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

import io.sessionkit.SessionException;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionLostException;
import io.sessionkit.TurnHandedOverException;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.internal.KeptMessage;
import io.sessionkit.store.StoreUnavailableException;
import org.jspecify.annotations.Nullable;

/**
 * A call that has come to a session and does not work there yet: it stands in one line
 * after the other. All calls come to the lines in the same order, so none waits for one
 * that waits for it. Safe for use by many threads: one looks, and another one may leave.
 */
public final class Arrival {

	private final SessionKey key;

	private final List<Wait> waits;

	private final Lines lines;

	private final @Nullable Request request;

	private final boolean steers;

	private final Drain drain;

	/** Held while the store is called; guards all that changes. */
	private final Lock looking = new ReentrantLock();

	private final List<FirstPlace> places = new ArrayList<>();

	/** Returns whether the turn that a call is to continue is not free yet. */
	private Predicate<@Nullable Answer> taken = (answer) -> false;

	/**
	 * The time since which the store is away while it is asked for that turn; null as
	 * long as it answers.
	 */
	private @Nullable Long awaySince;

	/** The outcome of the wait; null as long as the call stands in line. */
	private @Nullable Known known;

	/** Counts the call while it stands in line; null until it has looked. */
	private Drain.@Nullable Work waiting;

	private boolean over;

	/** True once nobody waits for the call any more. */
	private volatile boolean givenUp;

	/** True if a turn has the messages of this call, once it has left or was admitted. */
	private boolean joined;

	/**
	 * Creates the arrival of a call.
	 * @param request the request that it makes; null if its client cannot tell it from
	 * others
	 * @param drain the work of this process, with which waiting ends
	 * @param steers whether the call, once it works, takes what others offer
	 */
	Arrival(Lines lines, SessionKey key, List<Wait> waits, @Nullable Request request, boolean steers, Drain drain) {
		this.lines = lines;
		this.key = key;
		this.request = request;
		this.waits = waits;
		this.steers = steers;
		this.drain = drain;
	}

	/**
	 * The end of the waiting in line.
	 *
	 * @param answer the turn that answers the call; null if there is none
	 * @param joined whether the messages of the call have joined that turn
	 */
	private record Known(@Nullable Answer answer, boolean joined) {
	}

	/**
	 * Sets what a call that has waited for one whose process was killed still waits for
	 * if it is to continue a turn.
	 * @param taken returns whether that turn is not free yet, and will be soon; it is
	 * given the turn that answers the call, or null if there is none
	 * @return this arrival
	 */
	public Arrival waitingWhile(Predicate<@Nullable Answer> taken) {
		this.taken = taken;
		return this;
	}

	/**
	 * Waits until it is this call's turn.
	 * @return the admission, which the call must end by leaving
	 * @throws TurnInProgressException if others work and this call does not wait, if it
	 * has waited too long, or if it is interrupted
	 * @throws io.sessionkit.IdempotencyKeyException if the call does not ask what others
	 * with its key have asked
	 */
	public Admission await() {
		Admission admission = look();
		while (admission == null) {
			try {
				Thread.sleep(pause().toMillis());
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				throw interrupted(leaveOrThrow());
			}
			admission = look();
		}
		return admission;
	}

	private TurnInProgressException interrupted(boolean joined) {
		return joined ? KeptMessage.with(new TurnInProgressException("The call on session " + this.key
				+ " was interrupted while the turn that its message has joined was running. The message stays in that"
				+ " turn; read the session to see its answer."), this.key)
				: new TurnInProgressException("The call on session " + this.key
						+ " was interrupted while it waited for the calls before it. Nothing was run.");
	}

	/** Whoever makes the call again would have a message twice that has joined a turn. */
	private SessionException shuttingDown(boolean joined) {
		return joined ? KeptMessage.with(new TurnHandedOverException("The call on session " + this.key
				+ " waits in a process that shuts down. Its message has joined a turn at work in another process and stays"
				+ " in it: read the session to see the answer, and do not send the message again.", null), this.key)
				: Drain.refused(this.key);
	}

	/**
	 * Looks whether it is this call's turn. The first look joins the first line.
	 * @return the admission, which the call must end by leaving; null if it has to wait,
	 * and once it has left
	 * @throws TurnInProgressException if others work and this call does not wait, or if
	 * it has waited too long
	 * @throws io.sessionkit.IdempotencyKeyException if the call does not ask what others
	 * with its key have asked
	 */
	public @Nullable Admission look() {
		this.looking.lock();
		try {
			return this.over ? null : looked();
		}
		finally {
			unlock();
		}
	}

	/** A call that was given up while the lock was held leaves only now. */
	private void unlock() {
		this.looking.unlock();
		if (this.givenUp) {
			leave();
		}
	}

	private @Nullable Admission looked() {
		if (this.waiting == null) {
			this.waiting = this.drain.waiting();
		}
		try {
			return found();
		}
		catch (SessionLostException ex) {
			leave();
			throw ex;
		}
		catch (Throwable ex) {
			if (leave()) {
				KeptMessage.with(ex, this.key);
			}
			throw ex;
		}
	}

	private @Nullable Admission found() {
		if (this.known != null) {
			return unlessTaken(this.known);
		}
		if (this.drain.isOn()) {
			return answeredAtLast();
		}
		while (this.places.size() < this.waits.size()) {
			Wait wait = current();
			FirstPlace place = wait.look();
			if (wait.answer() != null) {
				return unlessTaken(new Known(wait.answer(), wait.isInLineOfSession()));
			}
			if (wait.isAbsent()) {
				return admitted(null, false);
			}
			if (place == null) {
				return null;
			}
			this.places.add(place);
			if (place.answer() != null) {
				return unlessTaken(new Known(place.answer(), false));
			}
		}
		return unlessTaken(new Known(answerOfOthers(), false));
	}

	/**
	 * Returns the admission of a call that stands in line no more, unless it has to wait
	 * for the turn that it is to continue: the process that was killed in that turn kept
	 * a lease of it, which may end a little later than its place in line.
	 */
	private @Nullable Admission unlessTaken(Known end) {
		this.known = end;
		boolean waits = !this.drain.isOn() && hasFoundGone() && (end.joined() || !current().isOverdue())
				&& isTaken(end.answer());
		return waits ? null : admitted(end.answer(), end.joined());
	}

	/** A store that is away for a moment is asked again, as by a call in line. */
	private boolean isTaken(@Nullable Answer answer) {
		try {
			boolean held = this.taken.test(answer);
			this.awaySince = null;
			return held;
		}
		catch (StoreUnavailableException ex) {
			long now = System.nanoTime();
			long since = (this.awaySince != null) ? this.awaySince : now;
			this.awaySince = since;
			if (now - since > this.lines.life().toNanos() || this.lines.mayRollBack()) {
				throw ex;
			}
			return true;
		}
	}

	private boolean hasFoundGone() {
		return this.waits.stream().anyMatch(Wait::hasFoundGone);
	}

	/**
	 * Returns the admission of a call whose messages are in a turn that is stored, since
	 * that turn answers it even while its process shuts down.
	 * @throws io.sessionkit.ShuttingDownException if no turn has its messages
	 * @throws TurnHandedOverException if a turn at work has them
	 */
	private Admission answeredAtLast() {
		Answer answer = (this.places.size() < this.waits.size()) ? current().answerAtLast() : null;
		if (answer == null) {
			throw shuttingDown(leaveOrThrow());
		}
		return admitted(answer, true);
	}

	/**
	 * Returns the turn that has answered the request of this call while it waited for
	 * other reasons: a call that made the same request was killed, and its messages had
	 * joined that turn.
	 */
	private @Nullable Answer answerOfOthers() {
		boolean waited = this.places.size() > 1 && this.waits.get(this.places.size() - 1).hasWaited();
		return waited ? this.places.get(0).answerNow() : null;
	}

	/** The places belong to the admission from now on. */
	private Admission admitted(@Nullable Answer answer, boolean joined) {
		this.over = true;
		this.joined = joined;
		return new Admission(List.copyOf(this.places), answer, joined, this.steers ? offering() : null, this.waiting);
	}

	/** Returns null if this call does not stand in the line of the session. */
	private @Nullable Offering offering() {
		return this.places.stream()
			.filter(FirstPlace::isInLineOfSession)
			.findFirst()
			.map((place) -> new Offering(this.lines, this.key, place, this.request))
			.orElse(null);
	}

	/**
	 * Returns whether the call waits for another one that makes the same request.
	 * @return false if it waits for other reasons, or does not wait
	 */
	public boolean isRepeating() {
		this.looking.lock();
		try {
			return !this.over && this.places.isEmpty() && !current().isInLineOfSession();
		}
		finally {
			unlock();
		}
	}

	/** Returns the line in which this call stands, or the last one. */
	private Wait current() {
		return this.waits.get(Math.min(this.places.size(), this.waits.size() - 1));
	}

	/**
	 * Returns how long to wait until the next look, a little longer each time.
	 */
	public Duration pause() {
		this.looking.lock();
		try {
			return current().pause();
		}
		finally {
			unlock();
		}
	}

	/**
	 * Leaves the lines, unless this call was admitted or has left.
	 * @return whether a turn has its messages, which stay in it
	 */
	public boolean leave() {
		this.looking.lock();
		try {
			return this.over ? this.joined : leaving();
		}
		finally {
			this.looking.unlock();
		}
	}

	/**
	 * Leaves the lines like {@link #leave()}.
	 * @return whether a turn has the messages of this call, which stay in it
	 * @throws RuntimeException what the store has thrown, if nobody knows whether a turn
	 * has the messages of this call
	 */
	public boolean leaveOrThrow() {
		boolean joined = leave();
		RuntimeException unknown = joined ? null : unknown();
		if (unknown != null) {
			throw unknown;
		}
		return joined;
	}

	private @Nullable RuntimeException unknown() {
		this.looking.lock();
		try {
			return this.waits.stream().map(Wait::unknown).filter(Objects::nonNull).findFirst().orElse(null);
		}
		finally {
			this.looking.unlock();
		}
	}

	/**
	 * Leaves the lines like {@link #leave()}, but does not wait for another thread that
	 * looks, in which hooks may run: that thread leaves the lines when it is done.
	 */
	public void giveUp() {
		this.givenUp = true;
		if (this.looking.tryLock()) {
			try {
				leave();
			}
			finally {
				this.looking.unlock();
			}
		}
	}

	private boolean leaving() {
		this.over = true;
		try {
			this.joined = left();
			return this.joined;
		}
		finally {
			if (this.waiting != null) {
				this.waiting.close();
			}
		}
	}

	private boolean left() {
		boolean joined = this.known != null && this.known.joined();
		for (Wait wait : this.waits) {
			joined |= wait.leave();
		}
		this.places.forEach(FirstPlace::leave);
		return joined;
	}

}
