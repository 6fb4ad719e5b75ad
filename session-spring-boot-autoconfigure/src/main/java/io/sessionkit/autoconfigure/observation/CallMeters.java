package io.sessionkit.autoconfigure.observation;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.sessionkit.SessionConflictException;
import io.sessionkit.context.SummaryResult;
import io.sessionkit.observation.CallObserver;
import io.sessionkit.observation.CallOutcome;
import io.sessionkit.observation.CallStage;
import io.sessionkit.observation.LeaseKind;
import io.sessionkit.observation.ObservedCall;
import io.sessionkit.observation.ObservedStream;
import org.jspecify.annotations.Nullable;
import reactor.util.context.ContextView;

/**
 * Counts what becomes of calls. All meters are there from the beginning, so a rate does
 * not miss the first event.
 */
final class CallMeters implements CallObserver {

	private final Ends calls;

	private final Ends streams;

	private final Counter conflicts;

	private final Counter trimmed;

	private final DistributionSummary viewTokens;

	private final Map<SummaryResult.Status, Counter> summaries;

	private final Counter summarizedTurns;

	private final Map<LeaseKind, Counter> leases;

	private final Counter stoppedTools;

	CallMeters(MeterRegistry registry) {
		this.calls = new Ends(registry, ObservationNames.mode(false));
		this.streams = new Ends(registry, ObservationNames.mode(true));
		this.conflicts = Counter.builder("sessionkit.conflicts")
			.description("Calls that have failed with a SessionConflictException.")
			.register(registry);
		this.trimmed = Counter.builder("sessionkit.view.trimmed")
			.description("Calls for which a limit has left out a part of the history.")
			.register(registry);
		this.viewTokens = DistributionSummary.builder("sessionkit.view.tokens")
			.description("Estimated tokens of the history with which a call begins.")
			.baseUnit("tokens")
			.register(registry);
		this.summaries = counters(SummaryResult.Status.class,
				(status) -> Counter.builder("sessionkit.summaries")
					.description("Attempts to make a summary.")
					.tag(ObservationNames.OUTCOME, ObservationNames.value(status))
					.register(registry));
		this.summarizedTurns = Counter.builder("sessionkit.summarized.turns")
			.description("Turns that are in a summary now.")
			.register(registry);
		this.stoppedTools = Counter.builder("sessionkit.tools.stopped")
			.description("Runs of tools that were stopped since their time was over.")
			.register(registry);
		this.leases = counters(LeaseKind.class,
				(kind) -> Counter.builder("sessionkit.leases.lost")
					.description("Leases and places in line that ran out while a call was at work.")
					.tag("kind", ObservationNames.value(kind))
					.register(registry));
	}

	private static <E extends Enum<E>> Map<E, Counter> counters(Class<E> type, Function<E, Counter> counter) {
		Map<E, Counter> counters = new EnumMap<>(type);
		for (E constant : type.getEnumConstants()) {
			counters.put(constant, counter.apply(constant));
		}
		return counters;
	}

	@Override
	public ObservedCall begin(boolean streams) {
		return new CountedCall(streams ? this.streams : this.calls);
	}

	@Override
	public SummaryResult summarize(Supplier<SummaryResult> work) {
		SummaryResult made = work.get();
		count(this.summaries, made.status());
		this.summarizedTurns.increment(made.turns());
		return made;
	}

	@Override
	public void toolStopped() {
		this.stoppedTools.increment();
	}

	@Override
	public void leaseLost(LeaseKind kind) {
		count(this.leases, kind);
	}

	private static <E extends Enum<E>> void count(Map<E, Counter> counters, E constant) {
		Counter counter = counters.get(constant);
		if (counter != null) {
			counter.increment();
		}
	}

	/**
	 * The counters of the ends of calls of one mode.
	 */
	private static final class Ends {

		private final Map<CallOutcome, Counter> outcomes;

		private final Counter notOpened;

		Ends(MeterRegistry registry, String mode) {
			this.outcomes = counters(CallOutcome.class,
					(outcome) -> counter(registry, mode, ObservationNames.value(outcome)));
			this.notOpened = counter(registry, mode, ObservationNames.NOT_OPENED);
		}

		private static Counter counter(MeterRegistry registry, String mode, String outcome) {
			return Counter.builder("sessionkit.calls")
				.description("Calls on sessions, by what became of their turn.")
				.tag(ObservationNames.MODE, mode)
				.tag(ObservationNames.OUTCOME, outcome)
				.register(registry);
		}

	}

	/**
	 * Counts one call.
	 */
	private final class CountedCall implements ObservedCall, ObservedStream {

		private final Ends ends;

		private volatile boolean opened;

		/** True once the end is counted: a reader may leave while the turn is opened. */
		private final AtomicBoolean counted = new AtomicBoolean();

		CountedCall(Ends ends) {
			this.ends = ends;
		}

		@Override
		public <T extends @Nullable Object> T observe(CallStage stage, Supplier<T> work) {
			if (stage != CallStage.CALL) {
				return work.get();
			}
			try {
				return work.get();
			}
			catch (Throwable ex) {
				failed();
				throw ex;
			}
		}

		@Override
		public ObservedStream observeStream(CallStage stage, ContextView context) {
			return (stage == CallStage.CALL) ? this : ObservedStream.NONE;
		}

		@Override
		public void failed(Throwable failure) {
			failed();
		}

		/** The turn of a reader who has gone ends later, if it was opened. */
		@Override
		public void cancelled() {
			if (!this.opened) {
				failed();
			}
		}

		private void failed() {
			if (this.counted.compareAndSet(false, true)) {
				this.ends.notOpened.increment();
			}
		}

		@Override
		public void opened(String turnId) {
			this.opened = true;
		}

		@Override
		public void viewed(int tokens, boolean cut) {
			CallMeters.this.viewTokens.record(tokens);
			if (cut) {
				CallMeters.this.trimmed.increment();
			}
		}

		@Override
		public void ended(CallOutcome outcome, @Nullable String failure) {
			if (this.counted.compareAndSet(false, true)) {
				count(this.ends.outcomes, outcome);
			}
			if (SessionConflictException.class.getName().equals(failure)) {
				CallMeters.this.conflicts.increment();
			}
		}

	}

}
