package io.sessionkit.docs;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Branch;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.SessionStoreFixture;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.Message;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The code of {@code docs/time.md} does what the page says.
 */
class TimeSnippetsTests {

	private final Conversations conversations = Conversations
		.of(new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())));

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final ChatClient chat = ChatClient.builder(this.model)
		.defaultAdvisors(SessionAdvisor.of(this.conversations))
		.build();

	private final SessionKey key = SessionKey.of("ada", "t1");

	private final Conversation thread = this.conversations.get(this.key);

	@Test
	void twoAreUndoneAndOneIsRedone() {
		seed(3);
		assertThat(TimeSnippets.undo(this.conversations, this.key)).extracting(Turn::number).containsExactly(3L, 2L);
		assertThat(log()).containsExactly("q1", "a1", "q2", "a2");
	}

	@Test
	void editAndRegenerateLeaveSiblings() {
		seed(2);
		this.model.says("edited").says("another");
		assertThat(TimeSnippets.edit(this.chat, this.key, 2, "q2, please")).isEqualTo("edited");
		assertThat(TimeSnippets.regenerate(this.chat, this.key)).isEqualTo("another");
		assertThat(log()).containsExactly("q1", "a1", "q2, please", "another");
		assertThat(TimeSnippets.siblings(this.thread, 4)).isEqualTo("answer 3 of 3");
		assertThat(log()).containsExactly("q1", "a1", "q2, please", "edited");
	}

	@Test
	void branchIsMadeAndDeleted() {
		seed(3);
		TimeSnippets.branch(this.thread);
		assertThat(this.thread.branches()).extracting(Branch::name).containsExactly("main");
		this.thread.branch("cheaper", 3);
		this.thread.switchTo("main");
		this.model.says("on it");
		assertThat(TimeSnippets.onBranch(this.chat, this.key, "aside")).isEqualTo("on it");
		assertThat(log()).hasSize(6);
		Map<String, List<SessionItem>> read = this.thread.branches()
			.stream()
			.collect(Collectors.toMap(Branch::name,
					(branch) -> TimeSnippets.readBranch(this.conversations, this.thread, branch)));
		assertThat(read.get("main")).isEqualTo(this.thread.items(Tail.ALL));
		assertThat(read.get("cheaper")).extracting((item) -> item.message().getText())
			.containsExactly("q1", "a1", "q2", "a2", "aside", "on it");
	}

	@Test
	void forkIsASessionOfItsOwn() {
		TimeSnippets.seed(this.thread, SessionStoreFixture.batch("q1", "a1", "q2", "a2", "q3", "a3", "q4", "a4"));
		SessionKey copy = SessionKey.of("ada", "t2");
		assertThat(TimeSnippets.fork(this.conversations, this.key, copy).messages()).hasSize(6);
	}

	private void seed(int turns) {
		for (int i = 1; i <= turns; i++) {
			this.thread.addTurn(SessionStoreFixture.batch("q" + i, "a" + i), null);
		}
	}

	private List<String> log() {
		return this.thread.messages().stream().map(Message::getText).toList();
	}

}
