package io.sessionkit.docs;

import java.util.List;
import java.util.Map;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.SessionContext;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The code about attributes of {@code docs/attributes.md} does what the page says.
 */
class AttributeSnippetsTests {

	private static final SessionKey KEY = SessionKey.of("ada", "t1");

	private final SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));

	private final Conversations conversations = Conversations.builder(this.store)
		.hooks(AttributeSnippets.prompt())
		.build();

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final ChatClient chat = ChatClient.builder(this.model)
		.defaultAdvisors(SessionAdvisor.of(this.conversations))
		.defaultTools(new AttributeSnippets.OrderTools(new SessionContext()))
		.build();

	@Test
	void orderIsChosenInOneTurnAndCancelledInTheNext() {
		this.model.calls(call("cancel", "{}")).calls(call("choose", "{\"order\":\"o7\"}")).says("fine");
		ask("I mean o7");
		this.model.calls(call("cancel", "{}")).says("done");
		ask("cancel it");
		assertThat(Lines.of(this.store.messages(KEY))).contains("tool cancel=\"no order is chosen\"",
				"tool cancel=\"order o7 of ada is cancelled\"");
		assertThat(this.conversations.get(KEY).attributes()).isEqualTo(Map.of("order", "o7"));
	}

	@Test
	void promptHasTheNameOfTheLogin() {
		this.store.add(SessionKey.of("t2"), List.of(new UserMessage("hi")));
		AttributeSnippets.login(this.conversations, "t2", "Ada \"the\" <b>");
		this.model.says("a");
		this.chat.prompt().user("q").advisors(SessionAdvisor.session("t2")).call().content();
		assertThat(this.model.lastRequestLines().get(0))
			.isEqualTo("system: The user's name is \"Ada \\\"the\\\" \\u003cb\\u003e\". Answer in English.");
	}

	private void ask(String text) {
		this.chat.prompt().user(text).advisors(SessionAdvisor.session(KEY)).call().content();
	}

	private static ToolCall call(String tool, String arguments) {
		return new ToolCall("c1", "function", tool, arguments);
	}

}
