package io.sessionkit.advisor;

import io.sessionkit.internal.CarriedError;
import io.sessionkit.observation.CallStage;
import io.sessionkit.observation.ObservedCall;
import io.sessionkit.observation.ObservedStream;
import reactor.core.publisher.Flux;

/**
 * Shows a stage of a stream to the observer of its call, which can neither keep nor
 * change what the stage says.
 */
final class StreamStage {

	private StreamStage() {
	}

	static <T> Flux<T> observed(ObservedCall call, CallStage stage, Flux<T> work) {
		return (call == ObservedCall.NONE) ? work : Flux.deferContextual((context) -> {
			ObservedStream stream = call.observeStream(stage, context);
			return work.doOnError((ex) -> stream.failed(CarriedError.original(ex)))
				.doOnComplete(stream::completed)
				.doOnCancel(stream::cancelled)
				.contextWrite(stream.context());
		});
	}

}
