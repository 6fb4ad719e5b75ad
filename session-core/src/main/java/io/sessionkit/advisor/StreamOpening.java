package io.sessionkit.advisor;

import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import io.micrometer.observation.Observation;
import io.sessionkit.Turn;
import io.sessionkit.TurnResult;
import io.sessionkit.internal.KeptMessage;
import io.sessionkit.internal.approval.GatedTurns;
import io.sessionkit.internal.approval.OpenedCall;
import io.sessionkit.internal.binding.TurnBinding;
import io.sessionkit.internal.call.WaitingThread;
import io.sessionkit.internal.line.Admission;
import io.sessionkit.internal.line.Arrival;
import io.sessionkit.internal.opening.TurnRequest;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Opens the turn of a streamed call, on a thread that may wait for the store. It looks
 * again and again while others are before the call in line.
 */
final class StreamOpening {

	private final GatedTurns turns;

	private final SessionCall call;

	private final TurnRequest asking;

	private final boolean toolLoop;

	private final @Nullable Arrival arrival;

	/** True once it is known that nothing is wrong with the call itself. */
	private volatile boolean checked;

	/** True once the stream has what was opened, and ends it. */
	private final AtomicBoolean taken = new AtomicBoolean();

	/**
	 * Creates the opening of a turn.
	 * @param asking what the call asks, as it is allowed
	 * @param toolLoop whether the call runs tools itself
	 * @param arrival the arrival of the call; null if it does not stand in line
	 */
	StreamOpening(GatedTurns turns, SessionCall call, TurnRequest asking, boolean toolLoop, @Nullable Arrival arrival) {
		this.turns = turns;
		this.call = call;
		this.asking = asking;
		this.toolLoop = toolLoop;
		this.arrival = arrival;
	}

	/**
	 * Returns what opens the turn for its subscriber, on whatever thread as part of the
	 * turn that runs on this one.
	 * @param observation the observation of the stream; null for none
	 */
	Mono<OpenedCall> opened(@Nullable Observation observation) {
		Callable<Optional<OpenedCall>> open = TurnBinding.carrying(() -> observed(observation, this::openInTurn));
		Mono<OpenedCall> opening = Mono.defer(() -> {
			this.call.reader().opens();
			return WaitingThread.run(open, (opened) -> opened.ifPresent(this::endUnlessTaken));
		}).flatMap(Mono::justOrEmpty);
		return (this.arrival != null) ? waiting(opening, this.arrival) : opening;
	}

	/** Notes that the stream has what was opened, and ends it. */
	void take() {
		this.taken.set(true);
	}

	/**
	 * Runs work of a stream inside the scope of its observation, on the present thread,
	 * so that the trace id is available there.
	 */
	private static <T> T observed(@Nullable Observation observation, Supplier<T> work) {
		if (observation == null) {
			return work.get();
		}
		try (Observation.Scope scope = observation.openScope()) {
			return work.get();
		}
	}

	/**
	 * Tries to open the turn again and again, on no thread in between: those that work
	 * need the threads to end.
	 */
	private static Mono<OpenedCall> waiting(Mono<OpenedCall> opening, Arrival arrival) {
		return opening
			.repeatWhenEmpty(Integer.MAX_VALUE, (looks) -> looks.concatMap((look) -> Mono.delay(arrival.pause())))
			.doOnCancel(() -> WaitingThread.runAtStore(() -> {
				arrival.giveUp();
				return arrival;
			}).subscribe());
	}

	/**
	 * Opens the turn unless the call has to wait, and tells the reader of the stream if
	 * it does not.
	 * @return empty if the call has to wait
	 */
	private Optional<OpenedCall> openInTurn() {
		Optional<OpenedCall> opened = Optional.empty();
		try {
			opened = openUnlessOthersWork();
			return opened;
		}
		finally {
			if (opened.isEmpty()) {
				this.call.reader().opened(null);
			}
		}
	}

	/**
	 * Opens the turn if nobody is before the call. What comes between the admission and
	 * the turn that ends it gives the place back if it fails.
	 * @return empty if the call has to wait
	 */
	private Optional<OpenedCall> openUnlessOthersWork() {
		if (this.arrival != null && !this.checked) {
			// here, since a codec may take its time
			this.turns.check(this.asking, this.call.tools(), this.toolLoop);
			this.checked = true;
		}
		Admission admission = (this.arrival != null) ? this.arrival.look() : null;
		if (this.arrival != null && admission == null) {
			waits(this.arrival);
			return Optional.empty();
		}
		beginStream(admission);
		return Optional.of(this.turns.open(this.asking, this.call.tools(), this.toolLoop, admission));
	}

	private void waits(Arrival arrival) {
		try {
			this.call.waits(this.asking, this.turns.hooks(), arrival);
		}
		catch (Throwable ex) {
			if (arrival.leave()) {
				KeptMessage.with(ex, this.asking.key());
			}
			throw ex;
		}
	}

	private void beginStream(@Nullable Admission admission) {
		try {
			this.call.beginStream(this.asking, this.turns.hooks());
		}
		catch (Throwable ex) {
			if (admission != null) {
				admission.leave();
			}
			throw ex;
		}
	}

	/**
	 * Ends a turn whose subscriber cancelled while the turn was being opened.
	 */
	private void endUnlessTaken(OpenedCall opened) {
		if (!(opened instanceof OpenedCall.Working working)) {
			this.call.reader().opened(answering(opened));
		}
		else if (!this.taken.get()) {
			working.call().turn().drop();
			this.call.reader().opened(null);
		}
	}

	private static Turn answering(OpenedCall opened) {
		TurnResult result = (opened instanceof OpenedCall.Answered answered) ? answered.turn()
				: ((OpenedCall.Queued) opened).pause().turn();
		return result.turn();
	}

}
