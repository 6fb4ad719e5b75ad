package io.sessionkit.samples.chat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * Holds the demo model back in the middle of an answer, so that a test has the time that
 * it needs, however busy the machine is: behind the first words, and before the model
 * looks at the results of tools.
 */
final class HeldModel implements BeanPostProcessor {

	private static final int FIRST_WORDS = 8;

	private final AtomicReference<Sinks.@Nullable Empty<Void>> held = new AtomicReference<>();

	void hold() {
		this.held.compareAndSet(null, Sinks.empty());
	}

	/** Lets the answer that is held go on, and holds the next one. */
	void releaseOne() {
		Sinks.Empty<Void> sink = this.held.getAndSet(Sinks.empty());
		if (sink != null) {
			sink.tryEmitEmpty();
		}
	}

	void release() {
		Sinks.Empty<Void> sink = this.held.getAndSet(null);
		if (sink != null) {
			sink.tryEmitEmpty();
		}
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String name) {
		return (bean instanceof DemoPace pace) ? new Held(pace) : bean;
	}

	private Mono<Void> untilReleased() {
		Sinks.Empty<Void> sink = this.held.get();
		return (sink != null) ? sink.asMono().publishOn(Schedulers.boundedElastic()) : Mono.empty();
	}

	private final class Held extends DemoPace {

		private final DemoPace pace;

		private Held(DemoPace pace) {
			super(Duration.ZERO);
			this.pace = pace;
		}

		@Override
		Flux<ChatResponse> slow(Prompt prompt, Flux<ChatResponse> words) {
			List<Message> messages = prompt.getInstructions();
			int first = (messages.get(messages.size() - 1) instanceof ToolResponseMessage) ? 0 : FIRST_WORDS;
			return Flux.defer(() -> {
				Mono<Void> released = untilReleased();
				return this.pace.slow(prompt, words)
					.index()
					.concatMap((word) -> (word.getT1() == first) ? released.thenReturn(word.getT2())
							: Mono.just(word.getT2()));
			});
		}

	}

}
