package io.sessionkit.internal.line;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;

import io.sessionkit.store.RecordWrite;
import org.jspecify.annotations.Nullable;

/**
 * The first places of the lines in which a call had to stand: it works on the session. Or
 * the turn that answers it, so that it need not work. Safe for use by many threads.
 */
public final class Admission {

	private final List<FirstPlace> places;

	private final @Nullable Answer answer;

	private final boolean joined;

	/** Null if the turn of this call takes no messages of others. */
	private final @Nullable Offering offering;

	/** Null if the call has not waited in this process. */
	private final Drain.@Nullable Work waiting;

	private volatile @Nullable Answer turn;

	private volatile boolean left;

	Admission(List<FirstPlace> places, @Nullable Answer answer, boolean joined, @Nullable Offering offering,
			Drain.@Nullable Work waiting) {
		this.places = places;
		this.answer = answer;
		this.joined = joined;
		this.offering = offering;
		this.waiting = waiting;
	}

	/**
	 * Returns the turn that answers this call.
	 * @return the turn; null if the call makes its request for the first time, or if its
	 * client cannot tell it from others, unless its messages have joined a turn
	 */
	public @Nullable Answer answer() {
		return this.answer;
	}

	/**
	 * Returns whether the messages of this call have joined the turn that answers it.
	 * @return false if the call has no answer, or if its request was made before
	 */
	public boolean hasJoined() {
		return this.joined;
	}

	/**
	 * Returns what calls that wait offer to the turn of this one.
	 * @return the offers; null if the turn takes none
	 */
	public @Nullable Offering offering() {
		return this.offering;
	}

	/**
	 * Sets the turn that the call works on.
	 * @param answer the turn, which answers the request of this call
	 */
	public void working(Answer answer) {
		this.turn = answer;
	}

	/**
	 * Creates the writes that leave the lines in the commit that ends the turn: the next
	 * call, if one waits, works then. Calls whose messages are part of the turn are
	 * answered by it.
	 * @return the writes
	 */
	public List<RecordWrite> leaving() {
		List<RecordWrite> writes = answers(true);
		Set<String> joined = (this.offering != null) ? this.offering.joined() : Set.of();
		this.places.forEach((place) -> writes.add(place.leaving(turn(), joined)));
		return writes;
	}

	/**
	 * Creates the writes that record that a turn of another call answers the request of
	 * this one. If earlier ones were refused, the lines are read again.
	 * @param other the turn
	 * @return the writes
	 */
	public List<RecordWrite> answeredBy(Answer other) {
		if (other.equals(this.turn)) {
			hasChanged();
		}
		working(other);
		return answering();
	}

	/**
	 * Creates the writes that go with a part of the turn: with the first one that it
	 * answers the request of this call, and with any that it answers the calls whose
	 * messages are part of it, and that this call still works.
	 * @return the writes; none if nothing of that has to be stored
	 */
	public List<RecordWrite> answering() {
		List<RecordWrite> writes = answers(false);
		for (FirstPlace place : this.places) {
			RecordWrite write = place.answering(turn());
			if (write != null) {
				writes.add(write);
			}
		}
		return writes;
	}

	private List<RecordWrite> answers(boolean ends) {
		return (this.offering != null) ? this.offering.answers(turn(), ends) : new ArrayList<>();
	}

	/** Continues after the commit that has stored what answers the request. */
	public void answered() {
		this.places.forEach((place) -> place.answered(turn()));
		if (this.offering != null) {
			this.offering.answered();
		}
	}

	private Answer turn() {
		return Objects.requireNonNull(this.turn);
	}

	/**
	 * Returns whether a line has changed since the writes for the last commit were
	 * created, and this call still works. Then the commit that was refused can be made
	 * with new ones.
	 */
	public boolean hasChanged() {
		boolean changed = false;
		for (FirstPlace place : this.places) {
			if (!place.isStillFirst(turn())) {
				return false;
			}
			changed |= place.hasChanged();
		}
		return changed;
	}

	/**
	 * Returns whether a place is gone: this call had not shown in time that it is there,
	 * or the store has lost it.
	 */
	public boolean isLost() {
		return this.places.stream().anyMatch((place) -> place.isLost(turn()));
	}

	/** Ends the admission after the commit that has left the lines. */
	public void left() {
		this.left = true;
		this.places.forEach(FirstPlace::left);
	}

	/**
	 * Leaves the lines, unless they were left already.
	 */
	public void leave() {
		try {
			this.places.forEach(FirstPlace::leave);
		}
		finally {
			opened();
		}
	}

	/**
	 * Leaves the lines after the turn has ended, unless they were left already. Requests
	 * that it answers are then remembered for their time only.
	 */
	public void end() {
		try {
			this.places.forEach(FirstPlace::end);
			if (!this.left && this.offering != null) {
				this.offering.end(turn());
			}
			this.left = true;
		}
		finally {
			opened();
		}
	}

	/**
	 * Ends the waiting of a call that works now, or has left. Until then its process
	 * counts it as one in line.
	 */
	public void opened() {
		if (this.waiting != null) {
			this.waiting.close();
		}
	}

}
