package io.sessionkit.advisor;

import io.sessionkit.internal.CarriedError;
import io.sessionkit.observation.ObservedStream;
import io.sessionkit.observation.ObservedTurn;
import io.sessionkit.observation.TurnStage;
import reactor.core.publisher.Flux;

/**
 * Shows a stage of a stream to the observer of its call, which can neither keep nor
 * change what the stage says.
 */
final class StreamStage {

	private StreamStage() {
	}

	static <T> Flux<T> observed(ObservedTurn turn, TurnStage stage, Flux<T> work) {
		return (turn == ObservedTurn.NONE) ? work : Flux.deferContextual((context) -> {
			ObservedStream stream = turn.observeStream(stage, context);
			return work.doOnError((ex) -> stream.failed(CarriedError.original(ex)))
				.doOnComplete(stream::completed)
				.doOnCancel(stream::cancelled)
				.contextWrite(stream.context());
		});
	}

}
