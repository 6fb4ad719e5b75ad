package io.sessionkit.docs;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.sessionkit.SessionKey;
import io.sessionkit.SessionSettings;
import io.sessionkit.advisor.ChildSession;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.context.HistoryPolicy;
import io.sessionkit.context.SnapshotProperties;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.SessionContext;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The code of {@code docs/retention.md} does what the page says.
 */
class RetentionSnippetsTests {

	private final SessionKey key = SessionKey.of("ada", "t1");

	private final SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final Conversations forgetting = Conversations.builder(this.store)
		.hooks(new RetentionSnippets.ForgetTheFirstMessages(new SessionContext()))
		.build();

	private final ChatClient chat = client(this.forgetting);

	private ChatClient client(Conversations conversations) {
		return ChatClient.builder(this.model).defaultAdvisors(SessionAdvisor.of(conversations)).build();
	}

	private void ask(ChatClient client) {
		this.model.says("a");
		client.prompt().user("q").advisors(SessionAdvisor.session(this.key)).call().content();
	}

	@Test
	void sessionKeepsItsNewestTurnsAndMayHaveASettingOfItsOwn() {
		Conversations conversations = RetentionSnippets.conversations(this.store);
		ChatClient client = client(conversations);
		for (int i = 1; i <= 400; i++) {
			if (i == 2) {
				RetentionSnippets.session(conversations.get(this.key));
			}
			ask(client);
		}
		assertThat(conversations.get(this.key).settings().retention())
			.isEqualTo(new SessionSettings.RetentionSettings(20, Duration.ofDays(7)));
		assertThat(conversations.get(this.key).session().orElseThrow().totals().turns()).isEqualTo(20);
	}

	@Test
	void hookForgetsTheFirstMessages() {
		askFifteenTimes();
		assertThat(this.store.messages(this.key)).hasSize(22);
	}

	@Test
	void hookForgetsNothingThatIsNoneOfTheTurnsOfTheSession() {
		List<Message> brought = IntStream.range(0, 11)
			.boxed()
			.<Message>flatMap((i) -> Stream.of(new UserMessage("q"), new AssistantMessage("a")))
			.toList();
		this.forgetting.get(this.key.child("long")).seed(brought);
		ChildSession child = ChildSession.of("child").readingParent();
		for (Consumer<ChatClient.AdvisorSpec> call : List.of(SessionAdvisor.history(brought),
				SessionAdvisor.history(brought, HistoryPolicy.USE_IF_PROVIDED),
				SessionAdvisor.history(brought, HistoryPolicy.REPLACE_SESSION),
				SessionAdvisor.session(this.key.child("long")).andThen(SessionAdvisor.child(child)))) {
			this.model.says("a");
			assertThat(this.chat.prompt()
				.user("q")
				.advisors(SessionAdvisor.session(this.key).andThen(call))
				.call()
				.content()).isEqualTo("a");
		}
		assertThat(this.store.messages(this.key.child("long"))).hasSize(22);
	}

	@Test
	void hookForgetsTheFirstMessagesBehindASummary() {
		this.store.add(this.key, List.of(new UserMessage("summarized"), new AssistantMessage("a")));
		SnapshotProperties.TestSummaries.move(this.store, this.key, 1, "s1", "the summary");
		askFifteenTimes();
		assertThat(this.forgetting.get(this.key).view()).hasSize(24);
		assertThat(this.store.messages(this.key)).hasSize(24).first().extracting("text").isEqualTo("summarized");
	}

	private void askFifteenTimes() {
		for (int i = 1; i <= 15; i++) {
			ask(this.chat);
		}
	}

}
