package io.sessionkit.observation;

import java.util.List;
import java.util.function.Supplier;

import io.sessionkit.context.SummaryResult;

/**
 * Observes the calls on all sessions of a process, to trace or to count them. It changes
 * nothing: see {@link ObservedCall}. Every method does nothing unless it is overridden.
 * Safe for use by many threads; no method may block.
 */
public interface CallObserver {

	/** Observes nothing. */
	CallObserver NONE = new CallObserver() {
	};

	/**
	 * Combines observers to one. None of them can disturb a call or another one: what one
	 * throws is logged by its class name.
	 * @param observers the observers, the outermost first
	 * @return an observer that calls all of them; {@link #NONE} if there are none
	 */
	static CallObserver all(List<? extends CallObserver> observers) {
		return observers.isEmpty() ? NONE : new SafeObserver(observers);
	}

	/**
	 * Begins to observe a call on a session, before anything is done for it.
	 * @param streams whether the call streams its answer
	 * @return the observer of this call
	 */
	default ObservedCall begin(boolean streams) {
		return ObservedCall.NONE;
	}

	/**
	 * Observes the making of a summary, on the thread of a call or in the background.
	 * @param work makes the summary, and must be called once; it does not throw
	 * @return the result of the work
	 */
	default SummaryResult summarize(Supplier<SummaryResult> work) {
		return work.get();
	}

	/**
	 * Handles a tool that was stopped since its time was over.
	 */
	default void toolStopped() {
	}

	/**
	 * Handles the loss of a lease.
	 * @param kind what was lost
	 */
	default void leaseLost(LeaseKind kind) {
	}

}
