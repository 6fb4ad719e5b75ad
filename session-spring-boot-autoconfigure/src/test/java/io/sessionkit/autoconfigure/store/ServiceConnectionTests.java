package io.sessionkit.autoconfigure.store;

import java.util.List;
import java.util.Set;

import io.sessionkit.SessionKey;
import io.sessionkit.autoconfigure.advisor.SessionAdvisorAutoConfiguration;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.jdbc.JdbcSessionStore;
import io.sessionkit.store.redis.RedisSessionStore;
import io.sessionkit.test.PostgresServer;
import io.sessionkit.test.RedisServers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.postgresql.ds.PGSimpleDataSource;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.postgresql.PostgreSQLContainer;
import org.testcontainers.utility.DockerImageName;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.testcontainers.lifecycle.TestcontainersLifecycleApplicationContextInitializer;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;
import org.springframework.boot.testcontainers.service.connection.ServiceConnectionAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A container that an application marks with {@code @ServiceConnection} is where its
 * sessions are. Without a Docker engine the containers themselves are not run, and
 * stand-ins for them lead to the servers of the other tests.
 */
class ServiceConnectionTests {

	private static final String NOT_RUN = "Tests of containers with @ServiceConnection: not run, no Docker engine answers";

	private static final DockerImageName POSTGRES = DockerImageName.parse("postgres:17-alpine");

	private static final DockerImageName REDIS = DockerImageName.parse("redis:7-alpine");

	private static final SessionKey KEY = SessionKey.of("t1");

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withInitializer(new TestcontainersLifecycleApplicationContextInitializer())
		.withConfiguration(
				AutoConfigurations.of(ServiceConnectionAutoConfiguration.class, MessageCodecAutoConfiguration.class,
						SessionStoreAutoConfiguration.class, SessionAdvisorAutoConfiguration.class));

	private final ApplicationContextRunner database = this.runner
		.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
		.withPropertyValues("sessionkit.store.jdbc.initialize-schema=always");

	private final ApplicationContextRunner redis = this.runner
		.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class));

	/**
	 * Says it where everybody sees it, since a build may hide the reason of a skipped
	 * test.
	 */
	static boolean dockerAnswers() {
		boolean answers = DockerClientFactory.instance().isDockerAvailable();
		if (!answers) {
			System.out.println(NOT_RUN);
		}
		return answers;
	}

	@Test
	@EnabledIf(value = "dockerAnswers", disabledReason = NOT_RUN)
	void sessionsAreInTheContainerOfTheDatabase() {
		this.database.withUserConfiguration(DatabaseContainer.class)
			.run((context) -> assertThatItKeepsSessions(context, JdbcSessionStore.class));
	}

	@Test
	@EnabledIf(value = "dockerAnswers", disabledReason = NOT_RUN)
	void sessionsAreInTheContainerOfRedis() {
		this.redis.withUserConfiguration(RedisContainer.class)
			.run((context) -> assertThatItKeepsSessions(context, RedisSessionStore.class));
	}

	@Test
	void sessionsAreWhereTheConnectionOfTheDatabaseLeads() {
		this.database.withUserConfiguration(DatabaseStandIn.class)
			.run((context) -> assertThatItKeepsSessions(context, JdbcSessionStore.class));
	}

	@Test
	void sessionsAreWhereTheConnectionOfRedisLeads() {
		this.redis.withUserConfiguration(RedisStandIn.class)
			.withPropertyValues("sessionkit.store.redis.key-prefix=service-connection:")
			.run((context) -> {
				assertThatItKeepsSessions(context, RedisSessionStore.class);
				Set<String> keys = context.getBean(StringRedisTemplate.class).keys("service-connection:*");
				assertThat(keys).isNotEmpty();
			});
	}

	private static void assertThatItKeepsSessions(ApplicationContext context, Class<? extends SessionStore> type) {
		SessionStore store = context.getBean(SessionStore.class);
		assertThat(store).isInstanceOf(type);
		store.add(KEY, List.of(new UserMessage("hello")));
		assertThat(store.messages(KEY)).extracting(Message::getText).containsExactly("hello");
	}

	@Configuration(proxyBeanMethods = false)
	static class DatabaseContainer {

		@Bean
		@ServiceConnection
		PostgreSQLContainer database() {
			return new PostgreSQLContainer(POSTGRES);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class RedisContainer {

		@Bean
		@ServiceConnection(name = "redis")
		GenericContainer<?> redis() {
			return new GenericContainer<>(REDIS).withExposedPorts(6379);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class DatabaseStandIn {

		@Bean
		@ServiceConnection
		PostgreSQLContainer database() {
			PostgresServer server = PostgresServer.running();
			return new PostgresStandIn((PGSimpleDataSource) server.dataSource(server.newDatabase()));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class RedisStandIn {

		@Bean
		@ServiceConnection(name = "redis")
		GenericContainer<?> redis() {
			return new RedisOfTheOtherTests();
		}

	}

	private static final class PostgresStandIn extends PostgreSQLContainer {

		private final PGSimpleDataSource server;

		private PostgresStandIn(PGSimpleDataSource server) {
			super(POSTGRES);
			this.server = server;
			withUsername(server.getUser()).withPassword(server.getPassword())
				.withDatabaseName(server.getDatabaseName());
		}

		@Override
		public void start() {
			// runs already
		}

		@Override
		public String getHost() {
			return this.server.getServerNames()[0];
		}

		@Override
		public Integer getMappedPort(int port) {
			return this.server.getPortNumbers()[0];
		}

	}

	private static final class RedisOfTheOtherTests extends GenericContainer<RedisOfTheOtherTests> {

		private RedisOfTheOtherTests() {
			super(REDIS);
		}

		@Override
		public void start() {
			// runs already
		}

		@Override
		public String getHost() {
			return RedisServers.alone().host();
		}

		@Override
		public Integer getMappedPort(int port) {
			return RedisServers.alone().port();
		}

	}

}
