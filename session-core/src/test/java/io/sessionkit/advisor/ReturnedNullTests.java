package io.sessionkit.advisor;

import java.util.List;

import io.sessionkit.SessionKey;
import io.sessionkit.approval.ApprovalPolicy;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Parts of an application that return null where something else is asked for.
 */
@SuppressWarnings("NullAway") // null is what is tested
class ReturnedNullTests {

	private final Conversations conversations = Conversations
		.of(new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())));

	private final ScriptedChatModel model = new ScriptedChatModel();

	@Test
	void policyIsTold() {
		ApprovalPolicy policy = (request) -> null;
		SessionAdvisor advisor = SessionAdvisor.builder(this.conversations)
			.approvals(Approvals.builder(this.conversations).policies(List.of(policy)).build())
			.build();
		this.model.calls(new ToolCall("c1", "function", "look", "{}"));
		ChatClient chat = ChatClient.builder(this.model).defaultAdvisors(advisor).build();
		assertThatIllegalStateException()
			.isThrownBy(() -> chat.prompt()
				.user("q")
				.toolCallbacks(FunctionToolCallback.builder("look", () -> "seen").description("looks").build())
				.advisors(SessionAdvisor.session("t1"))
				.call()
				.content())
			.withMessageContainingAll("ApprovalPolicy", policy.getClass().getName(), "'look'", "Ruling.allow()");
	}

	@Test
	void resolverIsTold() {
		SessionKeyResolver resolver = (request) -> null;
		SessionAdvisor advisor = SessionAdvisor.builder(this.conversations).resolver(resolver).build();
		ChatClient chat = ChatClient.builder(this.model).defaultAdvisors(advisor).build();
		assertThatIllegalStateException().isThrownBy(() -> chat.prompt().user("q").call().content())
			.withMessageContainingAll("SessionKeyResolver", resolver.getClass().getName(), "Optional.empty()");
	}

	@Test
	void callThatAddsAHookOrAListenerIsTold() {
		assertThatIllegalArgumentException().isThrownBy(() -> SessionAdvisor.hook(null))
			.withMessageContaining("SessionHook of a call must not be null");
		assertThatIllegalArgumentException().isThrownBy(() -> SessionAdvisor.listener(null))
			.withMessageContaining("SessionListener of a call must not be null");
	}

	@Test
	void changeOfSettingsIsTold() {
		Conversation thread = this.conversations.get(SessionKey.of("t1"));
		thread.create(HeaderChange.NONE);
		assertThatIllegalStateException().isThrownBy(() -> thread.settings((settings) -> null))
			.withMessageContaining("SessionSettings.NONE");
	}

}
