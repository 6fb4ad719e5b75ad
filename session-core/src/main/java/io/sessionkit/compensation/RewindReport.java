package io.sessionkit.compensation;

import java.util.List;

import io.sessionkit.Turn;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of a rewind.
 *
 * @param status how it ended
 * @param plan the plan, with each compensating call as it is now
 * @param undone the turns that have left the history, newest first; empty unless the
 * rewind is complete
 */
public record RewindReport(Status status, RewindPlan plan, List<Turn> undone) {

	public RewindReport {
		undone = List.copyOf(undone);
	}

	/**
	 * The ends of a rewind.
	 */
	public enum Status {

		/** All compensating calls are done, and the turns have left the history. */
		COMPLETED,
		/**
		 * The plan has no turns: there are none, or none behind a reset. No effect was
		 * looked at or taken back, and the head stays.
		 */
		NOTHING,
		/**
		 * The next compensating call waits for a person. What was done before stays done;
		 * call again when it is decided.
		 */
		WAITING,
		/**
		 * The next compensating call has failed, or it is not known whether it ran. What
		 * was done before stays done; call again when a person has decided it.
		 */
		STOPPED,
		/**
		 * There are effects that cannot be taken back and were not accepted. This call
		 * has run nothing; {@link RewindReport#done()} has what earlier ones have taken
		 * back.
		 */
		REFUSED

	}

	/**
	 * Returns the effects that are taken back.
	 * @return their compensations, in the order in which they ran
	 */
	public List<Compensation> done() {
		return this.plan.compensations().stream().filter(Compensation::isDone).toList();
	}

	/**
	 * Returns the effects that are not taken back yet.
	 * @return their compensations, in the order in which they run
	 */
	public List<Compensation> remaining() {
		return this.plan.compensations().stream().filter((each) -> !each.isDone()).toList();
	}

	/**
	 * Returns the compensation at which the rewind has stopped.
	 * @return the first of those that remain; null if none does
	 */
	public @Nullable Compensation stoppedAt() {
		return remaining().stream().findFirst().orElse(null);
	}

}
