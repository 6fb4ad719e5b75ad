package io.sessionkit.internal.line;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import io.sessionkit.store.RecordWrite;
import org.jspecify.annotations.Nullable;

/**
 * The first places of the lines in which a call had to stand: it works on the session. Or
 * the turn that answers its request, if that was made before. Safe for use by many
 * threads.
 */
public final class Admission {

	private final List<Place> places;

	private final @Nullable Answer answer;

	private volatile @Nullable Answer turn;

	Admission(List<Place> places, @Nullable Answer answer) {
		this.places = places;
		this.answer = answer;
	}

	/**
	 * Returns the turn that answers the request of this call.
	 * @return the turn; null if the call makes the request for the first time, and if its
	 * client cannot tell it from others
	 */
	public @Nullable Answer answer() {
		return this.answer;
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
	 * call, if one waits, works then.
	 * @return the writes
	 */
	public List<RecordWrite> leaving() {
		return this.places.stream().map((place) -> place.leaving(turn())).toList();
	}

	/**
	 * Creates the writes that store, with the first part of the turn, that it answers the
	 * request of this call.
	 * @return the writes; none if the call has no such request, or if that is stored
	 */
	public List<RecordWrite> answering() {
		List<RecordWrite> writes = new ArrayList<>();
		for (Place place : this.places) {
			RecordWrite write = place.answering(turn());
			if (write != null) {
				writes.add(write);
			}
		}
		return writes;
	}

	/** Goes on after the commit that has stored what answers the request. */
	public void answered() {
		this.places.forEach((place) -> place.answered(turn()));
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
		for (Place place : this.places) {
			if (!place.isStillFirst()) {
				return false;
			}
			changed |= place.hasChanged();
		}
		return changed;
	}

	/**
	 * Returns whether another call was admitted, since this one had not shown in time
	 * that it is there.
	 */
	public boolean isLost() {
		return this.places.stream().anyMatch(Place::isLost);
	}

	/** Ends the admission after the commit that has left the lines. */
	public void left() {
		this.places.forEach(Place::left);
	}

	/**
	 * Leaves the lines, unless they were left already.
	 */
	public void leave() {
		this.places.forEach(Place::leave);
	}

}
