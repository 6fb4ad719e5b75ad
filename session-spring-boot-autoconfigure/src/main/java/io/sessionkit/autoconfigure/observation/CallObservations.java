package io.sessionkit.autoconfigure.observation;

import java.util.function.Supplier;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.sessionkit.context.SummaryResult;
import io.sessionkit.observation.CallObserver;
import io.sessionkit.observation.ObservedCall;

/**
 * Makes an observation of each stage of a call. Those of a call are children of Spring
 * AI's observation of the session advisor, and Spring AI's observations of the advisors
 * behind it, of the tools and of the model are children of them.
 */
final class CallObservations implements CallObserver {

	private final ObservationRegistry registry;

	CallObservations(ObservationRegistry registry) {
		this.registry = registry;
	}

	@Override
	public ObservedCall begin(boolean streams) {
		return this.registry.isNoop() ? ObservedCall.NONE : new TracedCall(this.registry, streams);
	}

	@Override
	public SummaryResult summarize(Supplier<SummaryResult> work) {
		Observation observation = Observation.createNotStarted(ObservationNames.SUMMARY, this.registry)
			.contextualName("sessionkit summary")
			.lowCardinalityKeyValue(ObservationNames.OUTCOME, ObservationNames.value(SummaryResult.Status.FAILED))
			.start();
		try (Observation.Scope scope = observation.openScope()) {
			SummaryResult made = work.get();
			observation.lowCardinalityKeyValue(ObservationNames.OUTCOME, ObservationNames.value(made.status()));
			if (made.status() == SummaryResult.Status.FAILED) {
				observation.error(new SummaryFailedException(String.valueOf(made.failure())));
			}
			return made;
		}
		finally {
			observation.stop();
		}
	}

	/**
	 * The error of the observation of a summary that has failed. Nothing throws it; the
	 * message is the reason, which quotes nothing.
	 */
	private static final class SummaryFailedException extends RuntimeException {

		SummaryFailedException(String reason) {
			super(reason, null, false, false);
		}

	}

}
