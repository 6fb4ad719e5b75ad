package io.sessionkit.autoconfigure;

import java.util.List;
import java.util.Objects;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.jdbc.JdbcSessionStore;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.model.tool.ToolCallingManager;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Everything that is on the classpath configures itself, as in a real application.
 */
class AutoConfiguredApplicationTests {

	private static final SessionKey KEY = SessionKey.of("t1");

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withUserConfiguration(Application.class)
		.withPropertyValues("spring.datasource.generate-unique-name=true", "spring.liquibase.enabled=false");

	@Test
	void callThatNamesASessionIsStored() {
		ScriptedChatModel model = new ScriptedChatModel().says("hello Ada");
		this.runner.withBean(ScriptedChatModel.class, () -> model).run((context) -> {
			ChatClient chat = context.getBean(ChatClient.Builder.class).build();
			chat.prompt().user("I am Ada").advisors(SessionAdvisor.session(KEY)).call().content();
			assertThat(context).getBean(SessionStore.class).isInstanceOf(JdbcSessionStore.class);
			assertThat(context.getBean(SessionStore.class).messages(KEY)).extracting(Message::getText)
				.containsExactly("I am Ada", "hello Ada");
		});
	}

	@Test
	void connectionsThatAreFetchedLazilyWork() {
		this.runner.withPropertyValues("spring.datasource.connection-fetch=lazy").run((context) -> {
			SessionStore store = context.getBean(SessionStore.class);
			store.add(KEY, List.of(new UserMessage("hello")));
			assertThat(store.messages(KEY)).hasSize(1);
		});
	}

	@Test
	void applicationWithoutAChatModelStarts() {
		this.runner.run((context) -> assertThat(context).hasNotFailed().hasSingleBean(SessionStore.class));
	}

	/** Both read the same properties, and the one below has the beans of the other. */
	@Test
	void applicationBelowAnotherStartsAndUsesItsBeans() {
		try (ConfigurableApplicationContext below = new SpringApplicationBuilder(Application.class)
			.web(WebApplicationType.NONE)
			.child(Application.class)
			.web(WebApplicationType.NONE)
			.run("--spring.datasource.generate-unique-name=true", "--spring.liquibase.enabled=false",
					"--sessionkit.approval.tools=refund", "--sessionkit.trim.max-turns=5", "--sessionkit.lease=20s");
				ConfigurableApplicationContext above = (ConfigurableApplicationContext) Objects
					.requireNonNull(below.getParent())) {
			assertThat(below.getBean(Conversations.class)).isSameAs(above.getBean(Conversations.class));
			assertThat(below.containsLocalBean("sessionKitApprovals")).isFalse();
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "sessionkit.enabled=flase", "sessionkit.approvals.tools=a", "sessionkit.time-to-live=30" })
	void whatWouldHaveNoEffectIsRefused(String property) {
		assertThat(StartFailure.analysis(this.runner.withPropertyValues(property)).getDescription())
			.contains("'" + property.substring(0, property.indexOf('=')) + "'");
	}

	@Test
	void misspeltNameIsRefusedWhereSessionKitIsSwitchedOff() {
		assertThat(StartFailure
			.analysis(this.runner.withPropertyValues("sessionkit.enabled=off", "sessionkit.approvals.tools=a"))
			.getAction()).contains("'sessionkit.approval.tools'");
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void toolsAreGuardedWhetherSessionKitIsSwitchedOnOrNot(boolean enabled) {
		this.runner.withPropertyValues("sessionkit.enabled=" + enabled)
			.run((context) -> assertThat(context).getBean(ToolCallingManager.class)
				.extracting((manager) -> manager.getClass().getSimpleName())
				.isEqualTo("GuardedToolCallingManager"));
	}

	@Test
	void applicationWithADatabaseAndRedisHasToChoose() {
		FailureAnalysis analysis = StartFailure
			.analysis(new ApplicationContextRunner().withUserConfiguration(ApplicationWithRedis.class)
				.withPropertyValues("spring.datasource.generate-unique-name=true"));
		assertThat(analysis.getDescription()).contains("DataSource [dataSource]")
			.contains("RedisConnectionFactory [redisConnectionFactory]");
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class ApplicationWithRedis {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(exclude = DataRedisAutoConfiguration.class)
	static class Application {

	}

}
