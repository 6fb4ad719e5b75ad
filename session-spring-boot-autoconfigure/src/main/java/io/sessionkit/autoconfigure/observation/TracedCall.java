package io.sessionkit.autoconfigure.observation;

import java.util.function.Supplier;

import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.contextpropagation.ObservationThreadLocalAccessor;
import io.sessionkit.observation.CallOutcome;
import io.sessionkit.observation.CallStage;
import io.sessionkit.observation.ObservedCall;
import io.sessionkit.observation.ObservedStream;
import org.jspecify.annotations.Nullable;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * The observations of one call. Safe for use by many threads.
 */
final class TracedCall implements ObservedCall {

	private static final KeyValue CALL = KeyValue.of(ObservationNames.MODE, ObservationNames.mode(false));

	private static final KeyValue STREAM = KeyValue.of(ObservationNames.MODE, ObservationNames.mode(true));

	private static final KeyValue NOT_OPENED = KeyValue.of(ObservationNames.OUTCOME, ObservationNames.NOT_OPENED);

	private final ObservationRegistry registry;

	private final KeyValue mode;

	/** The parent of what happens on threads that know of no observation. */
	private volatile @Nullable Observation outer;

	/** The observation of a call whose reader has gone, until its turn has ended. */
	private @Nullable Observation left;

	private boolean opened;

	private @Nullable CallOutcome outcome;

	TracedCall(ObservationRegistry registry, boolean streams) {
		this.registry = registry;
		this.mode = streams ? STREAM : CALL;
	}

	@Override
	public <T extends @Nullable Object> T observe(CallStage stage, Supplier<T> work) {
		Observation current = this.registry.getCurrentObservation();
		Observation observation = start(stage, (current != null) ? current : this.outer);
		if (observation.isNoop()) {
			return work.get();
		}
		Observation before = enter(stage, observation);
		try (Observation.Scope scope = observation.openScope()) {
			return work.get();
		}
		catch (Throwable ex) {
			observation.error(ex);
			throw ex;
		}
		finally {
			leave(stage, before);
			stop(stage, observation);
		}
	}

	@Override
	public ObservedStream observeStream(CallStage stage, ContextView context) {
		Observation observation = start(stage, parent(context));
		return observation.isNoop() ? ObservedStream.NONE
				: new StreamedStage(stage, observation, enter(stage, observation));
	}

	private @Nullable Observation parent(ContextView context) {
		return context.getOrDefault(ObservationThreadLocalAccessor.KEY, this.outer);
	}

	/**
	 * Starts an observation. One that is switched off takes no part: what is inside of it
	 * would have no parent.
	 */
	private Observation start(CallStage stage, @Nullable Observation parent) {
		Observation observation = Observation.createNotStarted(ObservationNames.of(stage), this.registry)
			.contextualName(ObservationNames.span(stage))
			.parentObservation(parent);
		if (stage == CallStage.CALL) {
			observation.lowCardinalityKeyValue(this.mode);
		}
		else if (stage.isHooks()) {
			observation.lowCardinalityKeyValue(ObservationNames.phase(stage));
		}
		return observation.start();
	}

	/** Returns the observation that was the outer one before. */
	private @Nullable Observation enter(CallStage stage, Observation observation) {
		Observation before = this.outer;
		if (stage == CallStage.CALL || stage == CallStage.ROUND) {
			this.outer = observation;
		}
		return before;
	}

	private void leave(CallStage stage, @Nullable Observation before) {
		if (stage == CallStage.ROUND) {
			this.outer = before;
		}
	}

	private void stop(CallStage stage, Observation observation) {
		if (stage == CallStage.CALL) {
			observation.lowCardinalityKeyValue(outcome(NOT_OPENED));
		}
		observation.stop();
	}

	/** A turn whose reader has gone is stored after that. */
	private void cancelled(CallStage stage, Observation observation) {
		if (stage != CallStage.CALL) {
			observation.stop();
		}
		else if (!isLeftOpen(observation)) {
			stop(stage, observation);
		}
	}

	private synchronized boolean isLeftOpen(Observation observation) {
		boolean open = this.opened && this.outcome == null;
		this.left = open ? observation : null;
		return open;
	}

	private synchronized KeyValue outcome(KeyValue otherwise) {
		return (this.outcome != null) ? ObservationNames.outcome(this.outcome) : otherwise;
	}

	@Override
	public synchronized void opened(String turnId) {
		this.opened = true;
	}

	@Override
	public void ended(CallOutcome outcome, @Nullable String failure) {
		Observation waiting = end(outcome);
		if (waiting != null) {
			stop(CallStage.CALL, waiting);
		}
	}

	private synchronized @Nullable Observation end(CallOutcome ended) {
		this.outcome = ended;
		Observation waiting = this.left;
		this.left = null;
		return waiting;
	}

	/**
	 * A stage of a stream.
	 */
	private final class StreamedStage implements ObservedStream {

		private final CallStage stage;

		private final Observation observation;

		private final @Nullable Observation before;

		StreamedStage(CallStage stage, Observation observation, @Nullable Observation before) {
			this.stage = stage;
			this.observation = observation;
			this.before = before;
		}

		@Override
		public ContextView context() {
			return Context.of(ObservationThreadLocalAccessor.KEY, this.observation);
		}

		@Override
		public void completed() {
			leave(this.stage, this.before);
			stop(this.stage, this.observation);
		}

		@Override
		public void failed(Throwable failure) {
			this.observation.error(failure);
			completed();
		}

		@Override
		public void cancelled() {
			leave(this.stage, this.before);
			TracedCall.this.cancelled(this.stage, this.observation);
		}

	}

}
