package io.sessionkit.docs;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.Message;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The code of {@code docs/order.md} does what the page says.
 */
class OrderSnippetsTests {

	private final SessionKey key = SessionKey.of("ada", "t1");

	@Test
	void laterCallWaitsAndKnowsTheTurnBeforeIt() {
		SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));
		ScriptedChatModel model = new ScriptedChatModel();
		ChatClient chat = ChatClient.builder(model).defaultAdvisors(SessionAdvisor.of(Conversations.of(store))).build();
		CompletableFuture<CompletableFuture<String>> second = new CompletableFuture<>();
		model.step((prompt) -> {
			second.complete(CompletableFuture.supplyAsync(() -> OrderSnippets.serialize(chat, this.key, "q2")));
			return Flux.just(model.chunk("a1", List.of(), true));
		}).says("a2");
		assertThat(OrderSnippets.serialize(chat, this.key, "q1")).isEqualTo("a1");
		assertThat(second.join().join()).isEqualTo("a2");
		assertThat(store.messages(this.key)).extracting(Message::getText).containsExactly("q1", "a1", "q2", "a2");
		assertThat(model.lastRequestLines()).containsExactly("user: q1", "assistant: a1", "user: q2");
	}

	@Test
	void messageWithATurnOfItsOwnIsTheNextQuestion() {
		SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));
		ScriptedChatModel model = new ScriptedChatModel();
		ChatClient chat = ChatClient.builder(model).defaultAdvisors(SessionAdvisor.of(Conversations.of(store))).build();
		CompletableFuture<CompletableFuture<String>> second = new CompletableFuture<>();
		model.step((prompt) -> {
			second.complete(CompletableFuture.supplyAsync(() -> OrderSnippets.ownTurn(chat, this.key, "q2")));
			return Flux.just(model.chunk("a1", List.of(), true));
		}).says("a2");
		assertThat(OrderSnippets.ownTurn(chat, this.key, "q1")).isEqualTo("a1");
		assertThat(second.join().join()).isEqualTo("a2");
		assertThat(store.messages(this.key)).extracting(Message::getText).containsExactly("q1", "a1", "q2", "a2");
	}

	@Test
	void requestThatIsRepeatedGetsItsReply() {
		SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));
		ScriptedChatModel model = new ScriptedChatModel().says("a1");
		ChatClient chat = ChatClient.builder(model).defaultAdvisors(SessionAdvisor.of(Conversations.of(store))).build();
		assertThat(OrderSnippets.repeat(chat, this.key, "r1", "q1")).isEqualTo("a1");
		assertThat(OrderSnippets.repeat(chat, this.key, "r1", "q1")).isEqualTo("a1");
		assertThat(model.prompts()).hasSize(1);
	}

}
