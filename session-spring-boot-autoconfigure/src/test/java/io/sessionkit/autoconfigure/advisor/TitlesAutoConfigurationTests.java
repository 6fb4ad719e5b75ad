package io.sessionkit.autoconfigure.advisor;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.autoconfigure.store.MessageCodecAutoConfiguration;
import io.sessionkit.autoconfigure.store.SessionStoreAutoConfiguration;
import io.sessionkit.conversation.SessionTitles;
import io.sessionkit.store.SessionStore;
import io.sessionkit.test.ScriptedChatModel;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.model.chat.client.autoconfigure.ChatClientAutoConfiguration;
import org.springframework.ai.model.tool.autoconfigure.ToolCallingAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.support.GenericApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Titles that are asked for by a property.
 */
class TitlesAutoConfigurationTests {

	private static final SessionKey KEY = SessionKey.of("ada", "t1");

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(MessageCodecAutoConfiguration.class,
				SessionStoreAutoConfiguration.class, SessionAdvisorAutoConfiguration.class,
				ToolCallingAutoConfiguration.class, ChatClientAutoConfiguration.class))
		.withBean(ScriptedChatModel.class, () -> this.model)
		.withPropertyValues("sessionkit.store.type=memory");

	@ParameterizedTest
	@CsvSource({ "first-words, Where is my order?", "FIRST_WORDS, Where is my order?", "model, An order" })
	void sessionGetsATitle(String by, String title) {
		this.model.says("there").says("An order");
		this.runner.withPropertyValues("sessionkit.titles.by=" + by).run((context) -> {
			context.getBean(ChatClient.Builder.class)
				.build()
				.prompt()
				.user("Where is my order?")
				.advisors(SessionAdvisor.session(KEY))
				.call()
				.content();
			SessionStore store = context.getBean(SessionStore.class);
			Awaitility.await().untilAsserted(() -> assertThat(store.find(KEY).orElseThrow().title()).isEqualTo(title));
		});
	}

	@Test
	void modelThatIsNamedMayBeThatOfAParent() {
		try (GenericApplicationContext parent = new GenericApplicationContext()) {
			parent.registerBean("cheap", ChatModel.class, ScriptedChatModel::new);
			parent.refresh();
			this.runner.withParent(parent)
				.withPropertyValues("sessionkit.titles.by=model", "sessionkit.titles.model=cheap")
				.run((context) -> assertThat(context).hasNotFailed());
		}
	}

	@Test
	void applicationTitlesItsSessionsItselfUnlessItSaysOtherwise() {
		this.runner.run((context) -> assertThat(context).doesNotHaveBean(SessionTitles.class));
	}

	@Test
	void modelThatMakesNoTitlesIsRefused() {
		this.runner.withPropertyValues("sessionkit.titles.model=cheap")
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.hasMessageContaining("sessionkit.titles.by"));
		this.runner.withPropertyValues("sessionkit.titles.model=cheap", "sessionkit.titles.by=model")
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.hasMessageContaining("There is no ChatModel bean of that name"));
	}

}
