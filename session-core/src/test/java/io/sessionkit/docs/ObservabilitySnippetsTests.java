package io.sessionkit.docs;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ScriptedChatModel;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.client.ChatClient;

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

}
