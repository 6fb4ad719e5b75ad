package io.sessionkit.docs;

import java.util.Map;

import io.sessionkit.SessionKey;
import io.sessionkit.SessionLostException;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.client.ChatClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The code on what is kept with a turn does what its pages say.
 */
class KeptTurnsSnippetsTests {

	private final Conversations conversations = KeptTurnsSnippets
		.parameters(new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())));

	private final Conversation thread = this.conversations.get("t1");

	private final ScriptedChatModel model = new ScriptedChatModel();

	private ChatClient chat;

	@BeforeEach
	void askTwice() {
		this.chat = ChatClient.builder(this.model).defaultAdvisors(SessionAdvisor.of(this.conversations)).build();
		this.model.says("a1").says("a2");
		KeptTurnsSnippets.ask(this.chat, "q1", "found <1>");
		KeptTurnsSnippets.ask(this.chat, "q2", "found 2");
	}

	@Test
	void aThreadThatIsGoneIsNotBegunAnew() {
		this.model.says("a3");
		assertThat(KeptTurnsSnippets.goOn(this.chat, "q3", 2)).isEqualTo(3);
		this.conversations.store().erase(SessionKey.of("t1"));
		assertThatExceptionOfType(SessionLostException.class)
			.isThrownBy(() -> KeptTurnsSnippets.goOn(this.chat, "q4", 3));
	}

	@Test
	void parametersAreKeptAndOneIsShownAgain() {
		assertThat(this.thread.turns(Tail.ALL).get(0).parameters())
			.isEqualTo(Map.of("context", "found <1>", "tenant", "acme"));
		assertThat(this.model.lastRequestLines()).containsExactly("user: q1\n\n<context>\nfound &lt;1>\n</context>",
				"assistant: a1", "user: q2");
		assertThat(Lines.of(this.thread.messages())).startsWith("user: q1", "assistant: a1");
	}

	@Test
	void snapshotIsWhatWasSent() {
		assertThat(KeptTurnsSnippets.snapshot(this.thread, 2)).isEqualTo(this.model.lastRequest().subList(0, 2));
	}

	/** That it works on an item that cannot be read is part of the contract of stores. */
	@Test
	void itemIsDeletedWithoutBeingRead() {
		assertThat(KeptTurnsSnippets.deleteUnread(this.conversations.store(), SessionKey.of("t1"), 2)).isTrue();
		assertThat(Lines.of(this.thread.messages())).containsExactly("user: q1", "user: q2", "assistant: a2");
	}

	@Test
	void snapshotSaysWhatWasDeleted() {
		assertThat(KeptTurnsSnippets.delete(this.thread)).isEqualTo(2);
		assertThat(Lines.of(this.thread.messages())).containsExactly("user: q1", "assistant: a1");
		this.thread.delete(1);
		assertThatIllegalStateException().isThrownBy(() -> KeptTurnsSnippets.snapshot(this.thread, 2))
			.withMessage("2 messages were deleted since.");
	}

}
