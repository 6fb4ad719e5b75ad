package io.sessionkit.docs;

import java.time.Duration;

import io.sessionkit.SessionKey;
import io.sessionkit.SessionSettings;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.SessionContext;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.client.ChatClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The code of {@code docs/retention.md} does what the page says.
 */
class RetentionSnippetsTests {

	private final SessionKey key = SessionKey.of("ada", "t1");

	@Test
	void sessionKeepsItsNewestTurnsAndMayHaveASettingOfItsOwn() {
		SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));
		Conversations conversations = RetentionSnippets.conversations(store);
		ScriptedChatModel model = new ScriptedChatModel();
		ChatClient chat = ChatClient.builder(model).defaultAdvisors(SessionAdvisor.of(conversations)).build();
		for (int i = 1; i <= 400; i++) {
			if (i == 2) {
				RetentionSnippets.session(conversations.get(this.key));
			}
			model.says("a");
			chat.prompt().user("q").advisors(SessionAdvisor.session(this.key)).call().content();
		}
		assertThat(conversations.get(this.key).settings().retention())
			.isEqualTo(new SessionSettings.RetentionSettings(20, Duration.ofDays(7)));
		assertThat(conversations.get(this.key).session().orElseThrow().totals().turns()).isEqualTo(20);
	}

	@Test
	void hookForgetsTheFirstMessages() {
		SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));
		Conversations conversations = Conversations.builder(store)
			.hooks(new RetentionSnippets.ForgetTheFirstMessages(new SessionContext()))
			.build();
		ScriptedChatModel model = new ScriptedChatModel();
		ChatClient chat = ChatClient.builder(model).defaultAdvisors(SessionAdvisor.of(conversations)).build();
		for (int i = 1; i <= 15; i++) {
			model.says("a");
			chat.prompt().user("q").advisors(SessionAdvisor.session(this.key)).call().content();
		}
		assertThat(store.messages(this.key)).hasSize(22);
	}

}
