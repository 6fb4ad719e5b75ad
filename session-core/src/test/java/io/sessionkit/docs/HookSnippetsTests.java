package io.sessionkit.docs;

import io.sessionkit.SessionKey;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The code of {@code docs/hooks.md} does what the page says.
 */
class HookSnippetsTests {

	private static final SessionKey T1 = SessionKey.of("t1");

	private final SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final ChatClient chat = ChatClient.builder(this.model)
		.defaultSystem("be brief")
		.defaultAdvisors(HookSnippets.byHand(this.store))
		.build();

	@Test
	void cardNumberIsNeitherSentNorStored() {
		this.model.says("ok");
		assertThat(HookSnippets.ofOneCall(this.chat, "my card is 4111111111111111")).isEqualTo("ok");
		assertThat(this.model.lastRequestLines()).containsExactly("system: be brief\nThe tenant is acme.",
				"user: my card is [card]");
		assertThat(Lines.of(this.store.messages(T1))).containsExactly("user: my card is [card]", "assistant: ok");
	}

	@Test
	void promiseIsRefused() {
		this.model.says("we guarantee it");
		assertThat(HookSnippets.ofOneCall(this.chat, "will it come?")).isEqualTo("The answer promises what we do not.");
		assertThat(this.store.turns(T1, Tail.ALL).get(0).status()).isEqualTo(TurnStatus.REFUSED);
	}

	@Test
	void turnIsKeptWithoutItsToolRounds() {
		Conversations conversations = Conversations.builder(this.store)
			.hooks(new HookSnippets.WithoutToolRounds())
			.build();
		this.model.calls(new ToolCall("c1", "function", "today", "{}")).says("a");
		ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.of(conversations))
			.defaultTools(FunctionToolCallback.builder("today", () -> "Monday").description("the day").build())
			.build()
			.prompt()
			.user("q")
			.advisors(SessionAdvisor.session(T1))
			.call()
			.content();
		assertThat(Lines.of(this.store.messages(T1))).containsExactly("user: q", "assistant: a");
		assertThat(this.model.prompts()).hasSize(2);
	}

}
