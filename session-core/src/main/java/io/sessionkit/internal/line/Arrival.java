package io.sessionkit.internal.line;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.sessionkit.SessionKey;
import io.sessionkit.TurnInProgressException;
import org.jspecify.annotations.Nullable;

/**
 * A call that has come to a session and does not work there yet: it stands in one line
 * after the other. All calls come to the lines in the same order, so none waits for one
 * that waits for it. Safe for use by many threads: one looks, and another one may leave.
 */
public final class Arrival {

	private final SessionKey key;

	private final List<Wait> waits;

	private final List<Place> places = new ArrayList<>();

	private boolean over;

	Arrival(SessionKey key, List<Wait> waits) {
		this.key = key;
		this.waits = waits;
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
				leave();
				throw new TurnInProgressException("The call on session " + this.key
						+ " was interrupted while it waited for the calls before it. Nothing was run.");
			}
			admission = look();
		}
		return admission;
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
	public synchronized @Nullable Admission look() {
		if (this.over) {
			return null;
		}
		try {
			return found();
		}
		catch (RuntimeException ex) {
			leave();
			throw ex;
		}
	}

	private @Nullable Admission found() {
		while (this.places.size() < this.waits.size()) {
			Wait wait = current();
			Place place = wait.look();
			if (wait.answer() != null) {
				return admitted(wait.answer());
			}
			if (place == null) {
				return null;
			}
			this.places.add(place);
			if (place.answer() != null) {
				return admitted(place.answer());
			}
		}
		return admitted(null);
	}

	/** The places belong to the admission from now on. */
	private Admission admitted(@Nullable Answer answer) {
		this.over = true;
		return new Admission(List.copyOf(this.places), answer);
	}

	private Wait current() {
		return this.waits.get(this.places.size());
	}

	/**
	 * Returns how long to wait until the next look, a little longer each time.
	 */
	public synchronized Duration pause() {
		return current().pause();
	}

	/**
	 * Leaves the lines, unless this call was admitted.
	 */
	public synchronized void leave() {
		if (this.over) {
			return;
		}
		this.over = true;
		this.waits.forEach(Wait::leave);
		this.places.forEach(Place::leave);
	}

}
