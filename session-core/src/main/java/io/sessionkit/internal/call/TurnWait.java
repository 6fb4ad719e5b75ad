package io.sessionkit.internal.call;

import java.util.function.BooleanSupplier;

import io.sessionkit.Turn;
import org.jspecify.annotations.Nullable;

/**
 * Learns, as a parameter of a call, that it is not the turn of the call yet, and what
 * becomes of its opening, which nothing interrupts.
 */
public interface TurnWait {

	/** Nobody is told. */
	TurnWait NONE = new TurnWait() {

		@Override
		public void opens() {
		}

		@Override
		public void waits(BooleanSupplier leaving) {
		}

		@Override
		public void opened(@Nullable Turn answering) {
		}

	};

	/**
	 * Handles that the call is about to look whether it is its turn, and to open it then.
	 * If the call works on the turn from then on, the end of that is told as of any turn;
	 * otherwise {@link #opened} follows, also if nobody waits for the call any more.
	 */
	void opens();

	/**
	 * Handles that others work on the session of the call. Called again each time the
	 * call looks whether it is its turn.
	 * @param leaving leaves the line, and returns whether the turn of another call has
	 * the messages of this one. It may block, and throws what the store has thrown if
	 * nobody knows
	 */
	void waits(BooleanSupplier leaving);

	/**
	 * Handles that the call works on no turn, for now or at all.
	 * @param answering the turn that is the result of the call: its messages were queued
	 * for that one, or have joined it, or it was asked for before; null if there is none
	 */
	void opened(@Nullable Turn answering);

}
