package io.sessionkit.docs;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;

import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.TestStores;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.observation.ChatClientObservationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The code of {@code docs/observability.md} does what the page says.
 */
class ObservabilitySnippetsTests {

	@Test
	void observerNotesTheCommitThatIsSlow() {
		ObservedStore store = new ObservedStore(new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())));
		Queue<String> slow = new ConcurrentLinkedQueue<>();
		ScriptedChatModel model = new ScriptedChatModel().says("a").says("b");
		ChatClient chat = ChatClient.builder(model)
			.defaultAdvisors(SessionAdvisor.of(ObservabilitySnippets.conversations(store, slow)))
			.build();
		store.beforeCommit(() -> {
			long begin = System.nanoTime();
			Awaitility.await().until(() -> System.nanoTime() - begin > 150_000_000);
		});
		assertThat(chat.prompt().user("q").advisors(SessionAdvisor.session(SessionKey.of("t1"))).call().content())
			.isEqualTo("a");
		assertThat(slow).containsExactly("a commit took more than 100 ms");
	}

	@Test
	void observationOfSpringAiHasTheIdOfTheSessionUnlessAFilterLeavesItOut() {
		ObservationRegistry registry = ObservationRegistry.create();
		List<String> values = new CopyOnWriteArrayList<>();
		registry.observationConfig().observationHandler(new ObservationHandler<ChatClientObservationContext>() {

			@Override
			public void onStop(ChatClientObservationContext context) {
				context.getAllKeyValues().stream().map(KeyValue::getValue).forEach(values::add);
			}

			@Override
			public boolean supportsContext(Observation.Context context) {
				return context instanceof ChatClientObservationContext;
			}

		});
		assertThat(ask(registry, values)).contains("t1").doesNotContain("ada");
		registry.observationConfig().observationFilter(ObservabilitySnippets.withoutConversation());
		assertThat(ask(registry, values)).isNotEmpty().doesNotContain("t1");
	}

	private static List<String> ask(ObservationRegistry registry, List<String> values) {
		values.clear();
		ScriptedChatModel model = new ScriptedChatModel().says("a");
		try (Conversations conversations = Conversations.of(TestStores.MEMORY.create())) {
			ChatClient.builder(model, registry, null, null)
				.defaultAdvisors(SessionAdvisor.of(conversations))
				.build()
				.prompt()
				.user("q")
				.advisors(SessionAdvisor.session(SessionKey.of("ada", "t1")))
				.call()
				.content();
		}
		return values;
	}

}
