package io.sessionkit.autoconfigure.advisor;

import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.sessionkit.autoconfigure.StartFailure;
import io.sessionkit.autoconfigure.store.MessageCodecAutoConfiguration;
import io.sessionkit.autoconfigure.store.SessionStoreAutoConfiguration;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.context.SummaryTrigger;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.conversation.JournalingStore;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreLayer;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The line that the log has at start.
 */
@Isolated
class StartReportTests {

	private final Logger logger = (Logger) LoggerFactory.getLogger(StartReport.class);

	private final ListAppender<ILoggingEvent> log = new ListAppender<>();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(MessageCodecAutoConfiguration.class,
				SessionStoreAutoConfiguration.class, SessionAdvisorAutoConfiguration.class))
		.withPropertyValues("sessionkit.store.type=memory", "sessionkit.store.memory.max-sessions=7");

	@BeforeEach
	void listen() {
		this.log.start();
		this.logger.setLevel(Level.INFO);
		this.logger.addAppender(this.log);
	}

	@AfterEach
	void leave() {
		this.logger.detachAppender(this.log);
		this.logger.setLevel(null);
	}

	@Test
	void lineSaysWhatIsForgottenAndWhatIsLimited() {
		this.runner.withPropertyValues("sessionkit.time-to-live=30d", "sessionkit.retention.max-turns=500",
				"sessionkit.retention.max-age=36h", "sessionkit.trim.max-turns=40", "sessionkit.trim.max-tokens=8000")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(lines())
			.containsExactly("Sessions are kept by InMemorySessionStore. Forgotten: all sessions when the"
					+ " process ends; the least recently written ones of more than 7; sessions 30d after their last write;"
					+ " the oldest turns of sessions of more than 500; turns after 36h. Limited: 40 turns of history in a"
					+ " request; 8000 tokens in a request.");
	}

	@Test
	void lineIsAWarningWhereNobodyHasNamedTheStoreThatForgetsAll(@TempDir Path folder) {
		ApplicationContextRunner unnamed = new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(MessageCodecAutoConfiguration.class,
					SessionStoreAutoConfiguration.class, SessionAdvisorAutoConfiguration.class));
		unnamed.run((context) -> assertThat(context).hasNotFailed());
		assertThat(this.log.list).singleElement().satisfies((event) -> {
			assertThat(event.getLevel()).isEqualTo(Level.WARN);
			assertThat(event.getFormattedMessage()).contains("all sessions when the process ends")
				.endsWith(" Set 'sessionkit.store.type' if that is meant.");
		});
		ApplicationContextRunner database = unnamed
			.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
			.withPropertyValues("sessionkit.store.jdbc.initialize-schema=always");
		database.withPropertyValues("spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID())
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(this.log.list).extracting(ILoggingEvent::getLevel).containsExactly(Level.WARN, Level.WARN);
		database.withPropertyValues("spring.datasource.url=jdbc:h2:file:" + folder.resolve("sessions"))
			.run((context) -> assertThat(context).hasNotFailed());
		this.runner.run((context) -> assertThat(context).hasNotFailed());
		unnamed
			.withBean("own", InMemorySessionStore.class,
					() -> new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())))
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(this.log.list).extracting(ILoggingEvent::getLevel)
			.containsExactly(Level.WARN, Level.WARN, Level.INFO, Level.INFO, Level.INFO);
	}

	@Test
	void lineSaysThatADatabaseInMemoryForgetsAll() {
		database("jdbc:h2:mem:" + UUID.randomUUID()).run((context) -> assertThat(context).hasNotFailed());
		assertThat(lines()).singleElement()
			.asString()
			.startsWith("Sessions are kept by JdbcSessionStore. Forgotten: all sessions when the process ends,"
					+ " since the database is in memory. Limited:");
	}

	@Test
	void lineSaysThatADatabaseInAFileForgetsNothing(@TempDir Path folder) {
		database("jdbc:h2:file:" + folder.resolve("sessions"))
			.withPropertyValues("sessionkit.store.jdbc.initialize-schema=always")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(lines()).singleElement()
			.asString()
			.startsWith("Sessions are kept by JdbcSessionStore. Forgotten: nothing. Limited:");
	}

	private ApplicationContextRunner database(String url) {
		return this.runner.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
			.withPropertyValues("sessionkit.store.type=jdbc", "spring.datasource.url=" + url);
	}

	@Test
	void lineSaysThatNothingIsLimited() {
		this.runner.run((context) -> assertThat(context).hasNotFailed());
		assertThat(lines()).singleElement()
			.asString()
			.endsWith("Limited: nothing, so requests grow with their session.");
	}

	@Test
	void lineSaysWhenASummaryIsDue() {
		this.runner.withBean(ScriptedChatModel.class)
			.withPropertyValues("sessionkit.summarize.trigger-messages=20")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(lines()).singleElement().asString().endsWith("Limited: 20 messages before a summary.");
	}

	@Test
	void lineSaysNothingOfSummariesThatAreSwitchedOff() {
		this.runner.withPropertyValues("sessionkit.summarize.trigger-messages=20", "sessionkit.summarize.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(lines()).singleElement()
			.asString()
			.endsWith("Limited: nothing, so requests grow with their session.");
	}

	@Test
	void lineNamesTheTriggerThatReplacesThoseOfTheProperties() {
		this.runner.withBean(ScriptedChatModel.class)
			.withBean(SummaryTrigger.class, () -> (session) -> false)
			.withPropertyValues("sessionkit.summarize.trigger-messages=20")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(lines()).singleElement()
			.asString()
			.endsWith("Limited: the history before a summary, by the SummaryTrigger bean.");
	}

	@Test
	void lineSaysNothingOfATriggerThatIsNotInjected() {
		this.runner.withBean(ScriptedChatModel.class)
			.withBean("ofSomeCalls", SummaryTrigger.class, () -> (session) -> false,
					(definition) -> ((AbstractBeanDefinition) definition).setDefaultCandidate(false))
			.withPropertyValues("sessionkit.summarize.trigger-messages=20")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(lines()).singleElement().asString().endsWith("Limited: 20 messages before a summary.");
	}

	/** One of them is taken by the name of a parameter, as Spring takes beans. */
	@Test
	void oneOfTwoTriggersMayHaveTheNameOfTheParameter() {
		this.runner.withBean(ScriptedChatModel.class)
			.withBean("trigger", SummaryTrigger.class, () -> (session) -> false)
			.withBean("other", SummaryTrigger.class, () -> (session) -> false)
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(lines()).singleElement().asString().endsWith("by the SummaryTrigger bean.");
	}

	@Test
	void lineNamesConversationsOfTheApplicationInsteadOfTheProperties() {
		this.runner.withUserConfiguration(OwnConversations.class).run((context) -> assertThat(context).hasNotFailed());
		assertThat(lines()).singleElement()
			.asString()
			.endsWith("of more than 7; turns as the Conversations bean says. Limited: as the Conversations bean says.");
	}

	@Test
	void lineSaysNothingOfTheSizeOfAStoreOfTheApplication() {
		this.runner
			.withBean("own", InMemorySessionStore.class,
					() -> new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()), 3))
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(lines()).singleElement()
			.asString()
			.contains("the least recently written ones of more than the SessionStore bean allows.");
	}

	@Test
	void layerAroundAStoreInMemoryForgetsWhatThatStoreForgets() {
		this.runner
			.withBean("own", SessionStore.class,
					() -> layerAround(new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()), 3)))
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(lines()).singleElement()
			.asString()
			.contains("Forgotten: all sessions when the process ends; the least recently written ones of more than the"
					+ " SessionStore bean allows.");
	}

	/** Returns a store that passes on what it is asked. */
	static SessionStore layerAround(SessionStore store) {
		return (SessionStore) Proxy.newProxyInstance(StoreLayer.class.getClassLoader(),
				new Class<?>[] { SessionStore.class, StoreLayer.class },
				(proxy, method, args) -> method.getName().equals("layered") ? store : method.invoke(store, args));
	}

	@ParameterizedTest
	@ValueSource(strings = { "max-turns=500", "max-age=90d" })
	void retentionOfAStoreThatNeverDeletesIsRefused(String limit) {
		FailureAnalysis analysis = StartFailure
			.analysis(neverFinal().withPropertyValues("sessionkit.retention." + limit));
		assertThat(analysis.getDescription()).contains("'sessionkit.retention'").contains("JournalingStore");
		assertThat(analysis.getAction()).contains("mayRollBack()");
	}

	@Test
	void storeThatNeverDeletesNeedsNoRetention() {
		neverFinal().run((context) -> assertThat(context).hasNotFailed());
	}

	private ApplicationContextRunner neverFinal() {
		return this.runner.withBean("own", SessionStore.class,
				() -> new JournalingStore(new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())),
						(step, id) -> {
						}));
	}

	@Configuration(proxyBeanMethods = false)
	static class OwnConversations {

		@Bean
		Conversations conversations(SessionStore store) {
			return Conversations.builder(store).build();
		}

	}

	@Test
	void thereIsNoLineWhereSessionKitIsSwitchedOff() {
		this.runner.withPropertyValues("sessionkit.enabled=false").run((context) -> assertThat(context).hasNotFailed());
		assertThat(lines()).isEmpty();
	}

	private List<String> lines() {
		return this.log.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
	}

}
