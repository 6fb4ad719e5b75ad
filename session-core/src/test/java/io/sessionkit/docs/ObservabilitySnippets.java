package io.sessionkit.docs;

import java.util.List;
import java.util.Queue;
import java.util.function.Supplier;

import io.micrometer.observation.ObservationFilter;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.observation.CallObserver;
import io.sessionkit.observation.CallStage;
import io.sessionkit.observation.ObservedCall;
import io.sessionkit.store.SessionStore;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.client.observation.ChatClientObservationContext;
import org.springframework.context.annotation.Bean;

/**
 * The code of {@code docs/observability.md}.
 */
final class ObservabilitySnippets {

	private ObservabilitySnippets() {
	}

	static Conversations conversations(SessionStore store, Queue<String> slow) {
		return Conversations.builder(store).observers(List.of(new SlowCommits(slow))).build();
	}

	// tag::conversation
	@Bean
	static ObservationFilter withoutConversation() {
		return (context) -> (context instanceof ChatClientObservationContext)
				? context.removeHighCardinalityKeyValue("spring.ai.chat.client.conversation.id") : context;
	}
	// end::conversation

	// tag::observer
	record SlowCommits(Queue<String> slow) implements CallObserver {

		@Override
		public ObservedCall begin(boolean streams) {
			return new ObservedCall() {

				@Override
				public <T extends @Nullable Object> T observe(CallStage stage, Supplier<T> work) {
					long begin = System.nanoTime();
					T result = work.get();
					if (stage == CallStage.COMMIT && System.nanoTime() - begin > 100_000_000) {
						slow().add("a commit took more than 100 ms");
					}
					return result;
				}

			};
		}

	}
	// end::observer

}
