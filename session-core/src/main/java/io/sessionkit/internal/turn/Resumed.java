package io.sessionkit.internal.turn;

import io.sessionkit.NothingWaitsException;
import io.sessionkit.SessionException;
import io.sessionkit.TurnInProgressException;

/**
 * Says what a call without a message finds.
 */
public sealed interface Resumed {

	/**
	 * The open turn, on which this call works from now on.
	 *
	 * @param turn the turn, which holds a reply back
	 */
	record Taken(RunningTurn turn) implements Resumed {
	}

	/**
	 * No open turn, but a question whose reply was deleted, so that it is to be asked
	 * again.
	 *
	 * @param number the number of its turn, which is the newest one
	 */
	record Question(long number) implements Resumed {
	}

	/**
	 * No turn that this call can continue.
	 */
	sealed interface None extends Resumed {

		/**
		 * Returns the reason.
		 * @return the exception for a call that was to do nothing else
		 */
		SessionException why();

	}

	/**
	 * No open turn, or only one that the call does not mean.
	 */
	record Nothing(NothingWaitsException why) implements None {
	}

	/**
	 * A turn on which another call works, or the session is gone.
	 */
	record Busy(TurnInProgressException why) implements None {
	}

}
