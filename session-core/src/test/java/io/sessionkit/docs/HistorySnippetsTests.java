package io.sessionkit.docs;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.Page;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The code of {@code docs/history.md} does what the page says.
 */
class HistorySnippetsTests {

	private static final List<Message> GIVEN = List.of(new UserMessage("x?"), new AssistantMessage("x!"));

	private final SessionKey key = SessionKey.of("ada", "t1");

	private final SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));

	private final Conversations conversations = Conversations.of(this.store);

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final ChatClient chat = ChatClient.builder(this.model)
		.defaultAdvisors(SessionAdvisor.of(this.conversations))
		.build();

	record Value(String value) {
	}

	@Test
	void historyIsSentAndNothingStored() {
		this.model.says("a");
		assertThat(HistorySnippets.override(this.chat, this.key, GIVEN, "q")).isEqualTo("a");
		assertThat(this.model.lastRequestLines()).containsExactly("user: x?", "assistant: x!", "user: q");
		assertThat(this.store.find(this.key)).isEmpty();
	}

	@Test
	void historyReplacesTheSession() {
		this.model.says("a");
		HistorySnippets.replace(this.chat, this.key, GIVEN, "q");
		assertThat(this.store.messages(this.key)).hasSize(4);
	}

	@Test
	void sessionIsOnlyRead() {
		this.store.add(this.key, GIVEN);
		this.model.says("none");
		assertThat(HistorySnippets.reading(this.chat, this.key)).isEqualTo("none");
		assertThat(this.model.lastRequest()).hasSize(3);
		assertThat(this.store.messages(this.key)).hasSize(2);
	}

	@Test
	void childrenOfATurn() {
		run(() -> HistorySnippets.child(this.chat, "hallo"));
		assertThat(this.store.messages(this.key.child("translator"))).hasSize(2);
		run(() -> HistorySnippets.scratch(this.chat, "good?"));
		assertThat(this.store.list("ada", Page.first(10))).hasSize(2);
		HistorySnippets.erase(this.conversations, this.key);
		assertThat(this.store.list("ada", Page.first(10))).isEmpty();
	}

	@Test
	void agentAsAToolRunsWhenItsOuterCallIsApproved() {
		Approvals approvals = Approvals.builder(this.conversations).build();
		SessionAdvisor advisor = SessionAdvisor.builder(this.conversations).approvals(approvals).build();
		List<String> paid = new ArrayList<>();
		ChatClient billing = ChatClient.builder(this.model)
			.defaultAdvisors(advisor)
			.defaultTools(FunctionToolCallback.builder("pay", (Value order) -> paid.add(order.value()))
				.description("pays back an order")
				.inputType(Value.class)
				.build())
			.build();
		ChatClient support = ChatClient.builder(this.model)
			.defaultAdvisors(advisor)
			.defaultTools(new HistorySnippets.BillingTool(billing))
			.build();
		this.model.calls(new ToolCall("c1", "function", "payBack", "{\"order\":\"o7\"}"))
			.calls(new ToolCall("c2", "function", "pay", "{\"value\":\"o7\"}"))
			.says("paid back")
			.says("You have it back.");
		support.prompt().user("I want it back").advisors(SessionAdvisor.session(this.key)).call().content();
		assertThat(paid).isEmpty();
		assertThat(this.store.find(this.key.child("billing"))).isEmpty();
		approvals.approve(approvals.pending(this.key).get(0), "bob");
		assertThat(support.prompt().advisors(SessionAdvisor.session(this.key)).call().content())
			.isEqualTo("You have it back.");
		assertThat(paid).containsExactly("o7");
		assertThat(this.store.messages(this.key.child("billing"))).hasSize(4);
		assertThat(Lines.of(this.store.messages(this.key))).element(2).isEqualTo("tool payBack=\"paid back\"");
	}

	private void run(Supplier<String> work) {
		this.model.calls(new ToolCall("c1", "function", "work", "{\"value\":\"1\"}")).says("inner").says("done");
		this.chat.prompt()
			.user("outer")
			.toolCallbacks(FunctionToolCallback.builder("work", (Value value) -> work.get())
				.description("does something")
				.inputType(Value.class)
				.build())
			.advisors(SessionAdvisor.session(this.key))
			.call()
			.content();
	}

}
