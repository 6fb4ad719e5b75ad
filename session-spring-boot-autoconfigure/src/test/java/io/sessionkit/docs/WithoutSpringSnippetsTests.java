package io.sessionkit.docs;

import java.time.Duration;
import java.util.List;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.SetClock;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.chat.prompt.Prompt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.CALLS_REAL_METHODS;
import static org.mockito.Mockito.mock;

/**
 * The test without Spring of {@code docs/configuration.md}, and what the page says about
 * mocks.
 */
class WithoutSpringSnippetsTests {

	private final SessionKey key = SessionKey.of("ada", "t1");

	private final SetClock clock = new SetClock();

	// tag::test
	@Test
	void answerIsKeptForAnHour() {
		ChatModel model = mock(ChatModel.class);
		given(model.getOptions()).willReturn(ChatOptions.builder().build());
		given(model.call(any(Prompt.class)))
			.willReturn(new ChatResponse(List.of(new Generation(new AssistantMessage("Green.")))));
		StoreOptions options = StoreOptions.of(JsonMessageCodec.create())
			.clock(this.clock)
			.timeToLive(Duration.ofHours(1));
		try (Conversations conversations = Conversations.of(new InMemorySessionStore(options))) {
			ChatClient chat = ChatClient.builder(model).defaultAdvisors(SessionAdvisor.of(conversations)).build();
			chat.prompt().user("Which tea?").advisors(SessionAdvisor.session(this.key)).call().content();
			assertThat(conversations.get(this.key).messages()).extracting(Message::getText)
				.containsExactly("Which tea?", "Green.");
			this.clock.pass(Duration.ofHours(2));
			assertThat(conversations.get(this.key).messages()).isEmpty();
		}
	}
	// end::test

	@Test
	void mockOfAModelNeedsOptions() {
		ChatModel model = mock(ChatModel.class);
		given(model.call(any(Prompt.class)))
			.willReturn(new ChatResponse(List.of(new Generation(new AssistantMessage("Green.")))));
		assertThatExceptionOfType(NullPointerException.class).isThrownBy(() -> ask(model, List.of()));
	}

	@Test
	void mockOfAHookNeedsItsDefaultMethods() {
		SessionHook named = mock(SessionHook.class, CALLS_REAL_METHODS);
		assertThat(ask(new ScriptedChatModel().says("Green."), List.of(named))).isEqualTo("Green.");
		SessionHook nameless = mock(SessionHook.class);
		assertThatIllegalStateException()
			.isThrownBy(() -> ask(new ScriptedChatModel().says("Green."), List.of(nameless)))
			.withMessageContaining("name of a hook");
	}

	private String ask(ChatModel model, List<SessionHook> hooks) {
		InMemorySessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));
		try (Conversations conversations = Conversations.builder(store).hooks(hooks).build()) {
			return String.valueOf(ChatClient.builder(model)
				.defaultAdvisors(SessionAdvisor.of(conversations))
				.build()
				.prompt()
				.user("Which tea?")
				.advisors(SessionAdvisor.session(this.key))
				.call()
				.content());
		}
	}

}
