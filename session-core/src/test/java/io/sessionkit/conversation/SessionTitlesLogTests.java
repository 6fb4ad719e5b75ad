package io.sessionkit.conversation;

import java.util.List;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.store.SessionStore;
import io.sessionkit.test.CapturedLog;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.TestStores;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;

import org.springframework.ai.chat.client.ChatClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests the log about a model that makes no titles.
 */
@Isolated
class SessionTitlesLogTests {

	private final SessionStore store = TestStores.MEMORY.create();

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final ScriptedChatModel titling = new ScriptedChatModel();

	private final SessionTitles titles = SessionTitles.by(this.store, this.titling);

	private final Conversations conversations = Conversations.builder(this.store).listeners(this.titles).build();

	private final ChatClient chat = ChatClient.builder(this.model)
		.defaultAdvisors(SessionAdvisor.of(this.conversations))
		.build();

	@RegisterExtension
	private final CapturedLog log = CapturedLog.of(SessionTitles.class);

	@AfterEach
	void close() {
		this.titles.close();
		this.conversations.close();
	}

	private void awaitTitle(String session, String expected) {
		SessionKey key = SessionKey.of(session);
		this.model.says("an answer");
		this.chat.prompt().user("Where is it?").advisors(SessionAdvisor.session(key)).call().content();
		Awaitility.await()
			.until(() -> this.store.find(key).filter((found) -> expected.equals(found.title())).isPresent());
	}

	private List<String> warnings() {
		return this.log.events()
			.stream()
			.filter((event) -> event.getLevel() == Level.WARN)
			.map(ILoggingEvent::getFormattedMessage)
			.toList();
	}

	@Test
	void modelThatFailsAgainAndAgainIsWarnedOfOnceUntilItMakesATitle() {
		this.titling.fails(new IllegalStateException("secret"));
		awaitTitle("t1", "Where is it?");
		this.titling.fails(new IllegalStateException("secret"));
		awaitTitle("t2", "Where is it?");
		assertThat(warnings()).singleElement()
			.asString()
			.contains("made no title", "IllegalStateException")
			.doesNotContain("secret");
		this.titling.says("An order");
		awaitTitle("t3", "An order");
		this.titling.fails(new IllegalStateException("secret"));
		awaitTitle("t4", "Where is it?");
		assertThat(warnings()).hasSize(2);
	}

}
