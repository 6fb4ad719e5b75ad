package io.sessionkit.docs;

import java.util.List;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.SessionStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.TestStores;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.memory.ChatMemory;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The code of {@code docs/chat-memory.md} does what the page says.
 */
class ChatMemorySnippetsTests {

	private final SessionStore store = TestStores.MEMORY.create();

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final ChatMemorySnippets.MemoryConfiguration configuration = new ChatMemorySnippets.MemoryConfiguration();

	private final ChatMemory memory = this.configuration.chatMemory(this.store, () -> "ada");

	@Test
	void callIsTheSameBeforeAndAfter() {
		this.model.says("a1").says("a2");
		ChatMemorySnippets.before(ChatClient.builder(this.model), this.memory, "ada", "q1");
		ChatMemorySnippets.after(sessions(), "ada", "q2");
		assertThat(this.store.messages(SessionKey.of("ada", "ada-chat"))).hasSize(2);
		assertThat(this.store.messages(SessionKey.of("ada", "chat"))).hasSize(2);
	}

	@Test
	void clientWithoutTheSessionAdvisorUsesTheMemory() {
		this.model.says("a1").says("a2");
		ChatClient chat = ChatMemorySnippets.advised(this.model, this.memory);
		for (String text : List.of("q1", "q2")) {
			chat.prompt()
				.user(text)
				.advisors((advisors) -> advisors.param(ChatMemory.CONVERSATION_ID, "t1"))
				.call()
				.content();
		}
		assertThat(this.model.lastRequestLines()).containsExactly("user: q1", "assistant: a1", "user: q2");
		assertThat(this.configuration.chatMemoryRepository(this.store, () -> "ada").findConversationIds())
			.containsExactly("t1");
	}

	@Test
	void callWithBothIsRefusedBeforeTheModelIsCalled() {
		this.memory.add("t1", List.of(new UserMessage("q"), new AssistantMessage("a")));
		assertThatIllegalStateException()
			.isThrownBy(() -> ChatMemorySnippets.before(sessions(), this.memory, "ada", "q1"))
			.withMessageContaining("must not have another memory");
		assertThat(this.model.prompts()).isEmpty();
		assertThat(this.memory.get("ada-chat")).isEmpty();
	}

	private ChatClient.Builder sessions() {
		return ChatClient.builder(this.model).defaultAdvisors(SessionAdvisor.of(Conversations.of(this.store)));
	}

}
