package io.sessionkit.autoconfigure.store;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.autoconfigure.StartFailure;
import io.sessionkit.autoconfigure.advisor.SessionAdvisorAutoConfiguration;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.jdbc.JdbcSessionStore;
import io.sessionkit.store.redis.RedisSessionStore;
import io.sessionkit.stream.TurnStreams;
import io.sessionkit.test.RedisServers;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.WorkingModel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.model.chat.client.autoconfigure.ChatClientAutoConfiguration;
import org.springframework.ai.model.tool.autoconfigure.ToolCallingAutoConfiguration;
import org.springframework.beans.factory.config.BeanDefinitionCustomizer;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The store in a real Redis, with keys of its own in each test.
 */
class RedisSessionStoreAutoConfigurationTests {

	private static final SessionKey KEY = SessionKey.of("t1");

	private static final RedisServers server = RedisServers.alone();

	private final String prefix = "test-" + UUID.randomUUID() + ":";

	private final ApplicationContextRunner bare = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(MessageCodecAutoConfiguration.class,
				SessionStoreAutoConfiguration.class, SessionAdvisorAutoConfiguration.class))
		.withPropertyValues("sessionkit.store.redis.key-prefix=" + this.prefix);

	private final ApplicationContextRunner redis = this.bare
		.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
		.withPropertyValues("spring.data.redis.host=" + server.host(), "spring.data.redis.port=" + server.port());

	private final ApplicationContextRunner redisAndDatabase = this.redis
		.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
		.withPropertyValues("spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");

	@Test
	void connectionFactoryAloneIsReasonEnough() {
		this.redis.run((context) -> {
			assertThat(context).hasNotFailed().hasSingleBean(SessionStore.class);
			assertThatItKeepsSessionsInRedis(context);
		});
	}

	@ParameterizedTest
	@CsvSource({ "lettuce, LettuceConnectionFactory", "jedis, JedisConnectionFactory" })
	void eitherClientOfSpringBootWorks(String client, String factory) {
		this.redis.withPropertyValues("spring.data.redis.client-type=" + client).run((context) -> {
			assertThat(context.getBean(RedisConnectionFactory.class).getClass().getSimpleName()).isEqualTo(factory);
			assertThatItKeepsSessionsInRedis(context);
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "lettuce", "jedis" })
	void clusterWorks(String client) {
		RedisClusterConfiguration cluster = (RedisClusterConfiguration) RedisServers.cluster().configuration();
		String nodes = cluster.getClusterNodes()
			.stream()
			.map((node) -> node.getHost() + ":" + node.getPort())
			.collect(Collectors.joining(","));
		this.bare.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
			.withPropertyValues("spring.data.redis.cluster.nodes=" + nodes, "spring.data.redis.client-type=" + client)
			.run((context) -> assertThatItKeepsSessionsInRedis(context));
	}

	@Test
	void redisThatIsNamedWinsOverADataSource() {
		this.redisAndDatabase.withPropertyValues("sessionkit.store.type=redis").run((context) -> {
			assertThatItKeepsSessionsInRedis(context);
			assertThat(tables(context)).isEmpty();
		});
	}

	@Test
	void databaseThatIsNamedWinsOverRedis() {
		this.redisAndDatabase.withPropertyValues("sessionkit.store.type=jdbc").run((context) -> {
			assertThat(context).getBean(SessionStore.class).isInstanceOf(JdbcSessionStore.class);
			assertThatItWorks(context.getBean(SessionStore.class));
			assertThat(tables(context)).contains("SESSIONKIT_ITEM");
			assertThat(keys(context)).isEmpty();
		});
	}

	@Test
	void callThatNamesASessionIsStoredInRedis() {
		ScriptedChatModel model = new ScriptedChatModel().says("hello Ada");
		this.redis.withBean(ScriptedChatModel.class, () -> model)
			.withConfiguration(
					AutoConfigurations.of(ToolCallingAutoConfiguration.class, ChatClientAutoConfiguration.class))
			.run((context) -> {
				ChatClient chat = context.getBean(ChatClient.Builder.class).build();
				chat.prompt().user("I am Ada").advisors(SessionAdvisor.session(KEY)).call().content();
				assertThat(context.getBean(SessionStore.class).messages(KEY)).extracting(Message::getText)
					.containsExactly("I am Ada", "hello Ada");
				assertThat(keys(context)).isNotEmpty();
			});
	}

	/** The connections end before any bean is destroyed. */
	@ParameterizedTest
	@ValueSource(strings = { "lettuce", "jedis" })
	void streamThatIsStillAtWorkWhenTheApplicationClosesIsLostElsewhere(String client) {
		CountDownLatch asked = new CountDownLatch(1);
		CountDownLatch answered = new CountDownLatch(1);
		WorkingModel model = new WorkingModel("work");
		model.before((prompt) -> {
			asked.countDown();
			await(answered);
		});
		ApplicationContextRunner chats = this.redis.withBean(WorkingModel.class, () -> model)
			.withConfiguration(
					AutoConfigurations.of(ToolCallingAutoConfiguration.class, ChatClientAutoConfiguration.class))
			.withPropertyValues("sessionkit.streams.resumable=true", "sessionkit.shutdown.timeout=1s",
					"spring.data.redis.client-type=" + client);
		chats.run((context) -> {
			ChatClient chat = context.getBean(ChatClient.Builder.class).build();
			context.getBean(TurnStreams.class)
				.start(chat.prompt().user("q").advisors(SessionAdvisor.session(KEY)))
				.subscribe();
			await(asked);
			context.close();
		});
		chats.run((context) -> assertThat(context.getBean(SessionStore.class).records(KEY, "stream"))
			.anySatisfy((chunk) -> assertThat(chunk.payload()).contains("LOST")));
		answered.countDown();
	}

	private static void await(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void factoryThatStartsLaterIsReported() {
		LettuceConnectionFactory late = new LettuceConnectionFactory();
		late.setEarlyStartup(false);
		FailureAnalysis analysis = StartFailure.analysis(this.bare.withBean(RedisConnectionFactory.class, () -> late));
		assertThat(analysis.getDescription()).contains("not started yet");
		assertThat(analysis.getAction()).contains("setEarlyStartup(true)");
	}

	@Test
	void sessionsAreThereAfterARestart() {
		this.redis.run((context) -> assertThatItWorks(context.getBean(SessionStore.class)));
		this.redis.run((context) -> assertThat(context.getBean(SessionStore.class).messages(KEY)).hasSize(1));
	}

	@Test
	void keysAndTheirExpiryAreThoseOfTheProperties() {
		this.redis.withPropertyValues("sessionkit.time-to-live=30d").run((context) -> {
			assertThatItWorks(context.getBean(SessionStore.class));
			StringRedisTemplate template = context.getBean(StringRedisTemplate.class);
			assertThat(keys(context)).isNotEmpty()
				.allSatisfy((key) -> assertThat(template.getExpire(key)).as(key).isPositive());
		});
	}

	@Test
	void keysOfAnotherPrefixAreOfAnotherApplication() {
		this.redis.run((context) -> assertThatItWorks(context.getBean(SessionStore.class)));
		this.redis.withPropertyValues("sessionkit.store.redis.key-prefix=other-" + this.prefix)
			.run((context) -> assertThat(context.getBean(SessionStore.class).find(KEY)).isEmpty());
	}

	@Test
	void connectionDetailsOfTheApplicationAreUsed() {
		this.redis.withPropertyValues("spring.data.redis.port=1")
			.withBean(DataRedisConnectionDetails.class, ServerDetails::new)
			.run((context) -> assertThatItKeepsSessionsInRedis(context));
	}

	@Test
	void primaryConnectionFactoryIsTheOneOfTheStore() {
		this.bare.withBean("other", RedisConnectionFactory.class, SessionStoreAutoConfigurationTests.NoRedis::new)
			.withBean("main", LettuceConnectionFactory.class, server::connections,
					(definition) -> definition.setPrimary(true))
			.run((context) -> assertThatItWorks(context.getBean(SessionStore.class)));
	}

	@Test
	void connectionFactoriesThatAreNotCandidatesDoNotCount() {
		BeanDefinitionCustomizer hidden = (definition) -> definition.setAutowireCandidate(false);
		BeanDefinitionCustomizer fallback = (definition) -> definition.setFallback(true);
		this.bare
			.withBean("hidden", RedisConnectionFactory.class, SessionStoreAutoConfigurationTests.NoRedis::new, hidden)
			.withBean("fallback", RedisConnectionFactory.class, SessionStoreAutoConfigurationTests.NoRedis::new,
					fallback)
			.withBean("only", LettuceConnectionFactory.class, server::connections)
			.run((context) -> assertThatItWorks(context.getBean(SessionStore.class)));
	}

	@ParameterizedTest
	@ValueSource(strings = { "lettuce", "jedis" })
	void serverThatIsAwayIsReportedWithoutItsUrl(String client) {
		FailureAnalysis analysis = StartFailure
			.analysis(this.redis.withPropertyValues("spring.data.redis.url=redis://somebody:secret@127.0.0.1:1",
					"spring.data.redis.client-type=" + client));
		assertThat(analysis.getDescription()).contains("cannot be reached")
			.doesNotContain("secret")
			.doesNotContain("127.0.0.1");
		assertThat(analysis.getAction()).contains("Start Redis")
			.contains("'spring.data.redis.host'")
			.contains("'spring.data.redis.ssl.enabled'");
	}

	@Test
	void databaseThatTheServerDoesNotHaveIsReported() {
		FailureAnalysis analysis = StartFailure
			.analysis(this.redis.withPropertyValues("spring.data.redis.database=99"));
		assertThat(analysis.getAction()).contains("'spring.data.redis.database'");
	}

	@ParameterizedTest
	@ValueSource(strings = { "lettuce", "jedis" })
	void passwordThatIsWrongIsReportedWithoutIt(String client) {
		acl("SETUSER", "somebody", "reset", "on", ">right", "~*", "+@all");
		FailureAnalysis analysis = StartFailure
			.analysis(this.redis.withPropertyValues("spring.data.redis.client-type=" + client,
					"spring.data.redis.username=somebody", "spring.data.redis.password=secret"));
		assertThat(analysis.getDescription()).contains("Redis").doesNotContain("secret");
		assertThat(analysis.getAction()).contains("'spring.data.redis.password'").doesNotContain("secret");
	}

	@ParameterizedTest
	@ValueSource(strings = { "lettuce", "jedis" })
	void userWhoMayNotRunScriptsIsReported(String client) {
		acl("SETUSER", "reader", "reset", "on", ">right", "~*", "+@all", "-@scripting");
		FailureAnalysis analysis = StartFailure
			.analysis(this.redis.withPropertyValues("spring.data.redis.client-type=" + client,
					"spring.data.redis.username=reader", "spring.data.redis.password=right"));
		assertThat(analysis.getDescription()).contains("NOPERM");
		assertThat(analysis.getAction()).contains("'spring.data.redis.username'").contains("EVALSHA");
	}

	@Test
	void userWhoMayNotUseTheKeysIsReportedWithTheirPrefix() {
		acl("SETUSER", "elsewhere", "reset", "on", ">right", "~other:*", "+@all");
		FailureAnalysis analysis = StartFailure.analysis(this.redis
			.withPropertyValues("spring.data.redis.username=elsewhere", "spring.data.redis.password=right"));
		assertThat(analysis.getDescription()).contains("NOPERM");
		assertThat(analysis.getAction()).contains("'sessionkit.store.redis.key-prefix'").doesNotContain("Start Redis");
	}

	@ParameterizedTest
	@CsvSource({ "lettuce, -set, SET", "lettuce, -hset, HSET", "jedis, -lpush, LPUSH", "jedis, -@write, SET",
			"lettuce, -setrange, SETRANGE", "lettuce, -rename, RENAME", "jedis, -lset, LSET", "lettuce, -hdel, HDEL" })
	void userWhoMayNotWriteIsReported(String client, String right, String command) {
		acl("SETUSER", "guest", "reset", "on", ">right", "~*", "+@all", right);
		FailureAnalysis analysis = StartFailure
			.analysis(this.redis.withPropertyValues("spring.data.redis.client-type=" + client,
					"spring.data.redis.username=guest", "spring.data.redis.password=right"));
		assertThat(analysis.getDescription()).contains("may not run " + command + " (NOPERM)");
		assertThat(analysis.getAction()).contains("'spring.data.redis.username'");
	}

	private static void acl(String... arguments) {
		LettuceConnectionFactory connections = server.connections();
		try (RedisConnection connection = connections.getConnection()) {
			connection.execute("ACL",
					Stream.of(arguments).map((word) -> word.getBytes(StandardCharsets.UTF_8)).toArray(byte[][]::new));
		}
		finally {
			connections.destroy();
		}
	}

	private void assertThatItKeepsSessionsInRedis(ApplicationContext context) {
		SessionStore store = context.getBean(SessionStore.class);
		assertThat(store).isInstanceOf(RedisSessionStore.class);
		assertThat(keys(context)).isEmpty();
		assertThatItWorks(store);
		assertThat(keys(context)).isNotEmpty();
	}

	private static void assertThatItWorks(SessionStore store) {
		store.add(KEY, List.of(new UserMessage("hello")));
		assertThat(store.messages(KEY)).extracting(Message::getText).containsExactly("hello");
	}

	private Set<String> keys(ApplicationContext context) {
		return context.getBean(StringRedisTemplate.class).keys(this.prefix + "*");
	}

	private static List<String> tables(ApplicationContext context) {
		return new JdbcTemplate(context.getBean(DataSource.class)).queryForList(
				"select table_name from information_schema.tables where table_name like 'SESSIONKIT%'", String.class);
	}

	private static final class ServerDetails implements DataRedisConnectionDetails {

		@Override
		public Standalone getStandalone() {
			return Standalone.of(server.host(), server.port());
		}

	}

}
