package io.sessionkit.autoconfigure.store;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.sessionkit.SessionKey;
import io.sessionkit.autoconfigure.AddedInterface;
import io.sessionkit.autoconfigure.SessionKitProperties;
import io.sessionkit.autoconfigure.StartFailure;
import io.sessionkit.autoconfigure.StoreProperties;
import io.sessionkit.autoconfigure.StoreProperties.StoreType;
import io.sessionkit.autoconfigure.advisor.SessionAdvisorAutoConfiguration;
import io.sessionkit.autoconfigure.check.ConfigurationCheckAutoConfiguration;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.docs.DataSourceSnippets;
import io.sessionkit.store.MessageTokens;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.jdbc.JdbcSessionStore;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ObservedStore;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.tokenizer.JTokkitTokenCountEstimator;
import org.springframework.ai.tokenizer.TokenCountEstimator;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.DeferredImportSelector;
import org.springframework.context.annotation.Import;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConnection;
import org.springframework.data.redis.core.RedisTemplate;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.util.ClassUtils;
import org.springframework.util.unit.DataSize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

class SessionStoreAutoConfigurationTests {

	private static final SessionKey KEY = SessionKey.of("t1");

	private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(MessageCodecAutoConfiguration.class,
				SessionStoreAutoConfiguration.class, SessionAdvisorAutoConfiguration.class));

	@Test
	void tokensAreEstimatedByLengthUnlessAVocabularyOrABeanIsAskedFor() {
		UserMessage message = new UserMessage("word ".repeat(200));
		int byLength = MessageTokens.byLength().applyAsInt(message);
		int byVocabulary = MessageTokens.byVocabulary().applyAsInt(message);
		assertThat(byLength).isNotEqualTo(byVocabulary);
		this.runner.run((context) -> assertThat(tokens(context, message)).isEqualTo(byLength));
		ApplicationContextRunner counting = this.runner.withPropertyValues("sessionkit.token-estimate=vocabulary");
		counting.run((context) -> assertThat(tokens(context, message)).isEqualTo(byVocabulary));
		counting.withBean(TokenCountEstimator.class, () -> new JTokkitTokenCountEstimator() {

			@Override
			public int estimate(String text) {
				return 1_000;
			}

		}).run((context) -> assertThat(tokens(context, message)).isEqualTo(1_004));
	}

	@Test
	void twoEstimatorsOfTokensAreRefusedUnlessOneIsPrimary() {
		ApplicationContextRunner first = this.runner.withBean("first", TokenCountEstimator.class,
				JTokkitTokenCountEstimator::new);
		first.withBean("second", TokenCountEstimator.class, JTokkitTokenCountEstimator::new)
			.run((context) -> assertThat(context).getFailure()
				.hasRootCauseInstanceOf(NoUniqueBeanDefinitionException.class));
		first
			.withBean("second", TokenCountEstimator.class, JTokkitTokenCountEstimator::new,
					(definition) -> definition.setPrimary(true))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	private static int tokens(BeanFactory context, UserMessage message) {
		return context.getBean(SessionStore.class).options().tokens().applyAsInt(message);
	}

	@Test
	void sizeOfTheViewsIsAnOptionOfTheStore() {
		this.runner.withPropertyValues("sessionkit.store.view-cache=0")
			.run((context) -> assertThat(context.getBean(SessionStore.class).options().viewCache())
				.isEqualTo(DataSize.ofBytes(0)));
		this.runner.run((context) -> assertThat(context.getBean(SessionStore.class).options().viewCache())
			.isEqualTo(StoreOptions.VIEW_CACHE));
	}

	@Test
	void applicationWithoutChatModelGetsAStoreInMemory() {
		this.runner.run((context) -> {
			assertThat(context).hasNotFailed().hasSingleBean(SessionStore.class).hasSingleBean(Conversations.class);
			assertThat(context).getBean(SessionStore.class).isInstanceOf(InMemorySessionStore.class);
		});
	}

	@Test
	void memoryThatIsNamedWinsOverADataSource() {
		this.runner.withUserConfiguration(OneDataSource.class)
			.withPropertyValues("sessionkit.store.type=memory")
			.run((context) -> assertThat(context).getBean(SessionStore.class).isInstanceOf(InMemorySessionStore.class));
	}

	@Test
	void memoryThatIsNamedWinsOverEverything() {
		this.runner.withUserConfiguration(OneDataSource.class, Redis.class)
			.withPropertyValues("sessionkit.store.type=Memory")
			.run((context) -> assertThat(context).getBean(SessionStore.class).isInstanceOf(InMemorySessionStore.class));
	}

	/**
	 * By name, as in a real application: otherwise the classes would have been loaded.
	 */
	@Test
	void memoryWorksWithoutTheDatabaseLibraries() {
		new ApplicationContextRunner().withUserConfiguration(ByName.class)
			.withClassLoader(withoutJdbc())
			.run((context) -> assertThat(context).getBean(SessionStore.class).isInstanceOf(InMemorySessionStore.class));
	}

	@Test
	void memoryHoldsAsManySessionsAsItMay() {
		this.runner.withPropertyValues("sessionkit.store.memory.max-sessions=1").run((context) -> {
			SessionStore store = context.getBean(SessionStore.class);
			store.add(KEY, List.of(new UserMessage("first")));
			store.add(SessionKey.of("t2"), List.of(new UserMessage("second")));
			assertThat(store.find(KEY)).isEmpty();
			assertThat(store.messages(SessionKey.of("t2"))).hasSize(1);
		});
	}

	@Test
	void nothingIsConfiguredWhereItIsNotEnabled() {
		this.runner.withUserConfiguration(OneDataSource.class, Redis.class)
			.withPropertyValues("sessionkit.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed()
				.doesNotHaveBean(SessionStore.class)
				.doesNotHaveBean(MessageCodec.class)
				.doesNotHaveBean(Conversations.class)
				.doesNotHaveBean(SessionKitProperties.class));
	}

	@Test
	void storeOfTheApplicationIsTheOnlyOne() {
		this.runner.withUserConfiguration(OwnStore.class).run((context) -> {
			assertThat(context).hasSingleBean(SessionStore.class).hasSingleBean(Conversations.class);
			assertThat(context).getBean(SessionStore.class).isInstanceOf(ObservedStore.class);
		});
	}

	@Test
	void storeOfTheApplicationSettlesWhatIsNotClear() {
		this.runner.withUserConfiguration(OwnStore.class, OneDataSource.class, Redis.class)
			.withPropertyValues("sessionkit.store.type=redis")
			.run((context) -> assertThat(context).hasNotFailed()
				.hasSingleBean(SessionStore.class)
				.doesNotHaveBean(DataSourceScriptDatabaseInitializer.class));
	}

	@Test
	void storeOfTheApplicationGetsTheOptions() {
		this.runner.withUserConfiguration(OwnStore.class)
			.withPropertyValues("sessionkit.time-to-live=2h")
			.run((context) -> assertThat(context.getBean(SessionStore.class).options().timeToLive())
				.isEqualTo(Duration.ofHours(2)));
	}

	@Test
	void codecOfTheApplicationIsTheOneOfTheStore() {
		MessageCodec codec = JsonMessageCodec.create();
		this.runner.withBean("own", MessageCodec.class, () -> codec).run((context) -> {
			assertThat(context).hasSingleBean(MessageCodec.class);
			assertThat(context.getBean(SessionStore.class).options().codec()).isSameAs(codec);
		});
	}

	@Test
	void clockOfTheApplicationIsUsedIfThereIsOne() {
		this.runner.withBean(Clock.class, () -> Clock.fixed(NOW, ZoneOffset.UTC)).run((context) -> {
			SessionStore store = context.getBean(SessionStore.class);
			store.add(KEY, List.of(new UserMessage("hello")));
			assertThat(store.find(KEY)).get().satisfies((session) -> {
				assertThat(session.updatedAt()).isEqualTo(NOW);
				assertThat(session.expiresAt()).isNull();
			});
		});
	}

	@Test
	void twoClocksAreRefusedUnlessOneIsPrimary() {
		ApplicationContextRunner first = this.runner.withBean("clock", Clock.class,
				() -> Clock.fixed(NOW, ZoneOffset.UTC));
		first.withBean("second", Clock.class, Clock::systemUTC)
			.run((context) -> assertThat(context).getFailure()
				.hasRootCauseInstanceOf(NoUniqueBeanDefinitionException.class));
		first.withBean("second", Clock.class, Clock::systemUTC, (definition) -> definition.setPrimary(true))
			.run((context) -> assertThat(context.getBean(SessionStore.class).options().clock())
				.isEqualTo(Clock.systemUTC()));
	}

	@Test
	void timeToLiveReachesTheSessions() {
		this.runner.withBean(Clock.class, () -> Clock.fixed(NOW, ZoneOffset.UTC))
			.withPropertyValues("sessionkit.time-to-live=30d")
			.run((context) -> {
				SessionStore store = context.getBean(SessionStore.class);
				store.add(KEY, List.of(new UserMessage("hello")));
				assertThat(store.find(KEY)).get()
					.satisfies((session) -> assertThat(session.expiresAt()).isEqualTo(NOW.plus(Duration.ofDays(30))));
			});
	}

	/**
	 * The check of an application's own beans knows the store by its name, and would take
	 * one of another name for one of the application. No store is made, since no server
	 * runs.
	 */
	@ParameterizedTest
	@EnumSource
	void storeOfEachTypeHasTheNameByWhichTheChecksKnowIt(StoreType type) {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(ConfigurationCheckAutoConfiguration.class,
					MessageCodecAutoConfiguration.class, SessionStoreAutoConfiguration.class))
			.withInitializer(
					(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
			.withUserConfiguration(OneDataSource.class, Redis.class)
			.withPropertyValues(StoreProperties.STORE_TYPE + "=" + type.value())
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context.getBeanNamesForType(SessionStore.class, true, false))
					.containsExactly("sessionKitStore");
			});
	}

	@Test
	void databaseAndRedisAreOneTooMany() {
		FailureAnalysis analysis = StartFailure
			.analysis(this.runner.withUserConfiguration(OneDataSource.class, Redis.class));
		assertThat(analysis.getDescription()).contains("DataSource [dataSource]")
			.contains("RedisConnectionFactory [redisConnectionFactory]");
		assertThat(analysis.getAction()).contains("'sessionkit.store.type' to 'jdbc'")
			.contains("'redis'")
			.contains("'memory'");
	}

	@ParameterizedTest
	@ValueSource(strings = { "redis", "REDIS" })
	void redisThatIsNamedNeedsAConnectionFactory(String name) {
		FailureAnalysis analysis = StartFailure
			.analysis(this.runner.withPropertyValues("sessionkit.store.type=" + name));
		assertThat(analysis.getDescription()).contains("'sessionkit.store.type' is 'redis'")
			.contains("no RedisConnectionFactory");
		assertThat(analysis.getAction()).contains("org.springframework.boot:spring-boot-starter-data-redis")
			.contains("'spring.data.redis.host'");
	}

	@Test
	void redisThatIsNamedNeedsItsLibraries() {
		FailureAnalysis analysis = StartFailure
			.analysis(this.runner.withClassLoader(withoutRedis()).withPropertyValues("sessionkit.store.type=redis"));
		assertThat(analysis.getDescription()).contains(RedisTemplate.class.getName());
		assertThat(analysis.getAction()).contains("org.springframework.boot:spring-boot-starter-data-redis")
			.contains("'memory'");
	}

	@Test
	void memoryWorksWithoutTheRedisLibraries() {
		new ApplicationContextRunner().withUserConfiguration(ByName.class)
			.withClassLoader(withoutRedis())
			.run((context) -> assertThat(context).getBean(SessionStore.class).isInstanceOf(InMemorySessionStore.class));
	}

	@Test
	void databaseWorksWithoutTheRedisLibraries() {
		new ApplicationContextRunner().withUserConfiguration(ByName.class)
			.withClassLoader(withoutRedis())
			.withBean(DataSource.class,
					() -> new DriverManagerDataSource("jdbc:h2:mem:without-redis;DB_CLOSE_DELAY=-1"))
			.run((context) -> assertThat(context).getBean(SessionStore.class).isInstanceOf(JdbcSessionStore.class));
	}

	@ParameterizedTest
	@ValueSource(strings = { "sessionkit.store.type=redis", "sessionkit.enabled=true" })
	void severalConnectionFactoriesNeedAPrimaryOne(String property) {
		FailureAnalysis analysis = StartFailure
			.analysis(this.runner.withUserConfiguration(TwoConnectionFactories.class).withPropertyValues(property));
		assertThat(analysis.getDescription()).contains("RedisConnectionFactory [cache, sessions]");
		assertThat(analysis.getAction()).contains("@Primary").contains("RedisSessionStore bean");
	}

	@Test
	void storeThatIsNotThereIsRefusedWithThoseThatAre() {
		FailureAnalysis analysis = StartFailure.analysis(this.runner.withPropertyValues("sessionkit.store.type=mongo"));
		assertThat(analysis.getDescription()).isEqualTo("The property 'sessionkit.store.type' is 'mongo'.");
		assertThat(analysis.getAction()).startsWith("Write 'memory', 'jdbc' or 'redis'");
	}

	@Test
	void databaseThatIsNamedNeedsADataSource() {
		FailureAnalysis analysis = StartFailure.analysis(this.runner.withPropertyValues("sessionkit.store.type=jdbc"));
		assertThat(analysis.getDescription()).contains("'sessionkit.store.type' is 'jdbc'").contains("no DataSource");
		assertThat(analysis.getAction()).contains("spring.datasource.url").contains("driver");
	}

	/**
	 * As a DataSource by JNDI: nobody knows what the factory makes before it has made it.
	 */
	@Test
	void databaseThatCouldNotBeSeenIsNoReasonToForget() {
		ApplicationContextRunner made = this.runner.withUserConfiguration(MadeDataSource.class);
		FailureAnalysis analysis = StartFailure.analysis(made);
		assertThat(analysis.getDescription()).contains("DataSource [dataSource]").contains("forgotten on restart");
		assertThat(analysis.getAction()).contains("return the type DataSource")
			.contains("'spring.datasource.jndi-name'")
			.contains("'sessionkit.store.type' to 'memory'");
		assertThat(StartFailure.analysis(made.withPropertyValues("sessionkit.store.type=jdbc")).getAction())
			.contains("return the type DataSource");
		made.withPropertyValues("sessionkit.store.type=memory")
			.run((context) -> assertThat(context).getBean(SessionStore.class).isInstanceOf(InMemorySessionStore.class));
	}

	@ParameterizedTest
	@CsvSource({ "spring.datasource.url, spring-boot-starter-jdbc", "spring.datasource.jndi-name, DataSource bean",
			"spring.data.redis.url, spring-boot-starter-data-redis",
			"spring.data.redis.host, RedisConnectionFactory bean",
			"spring.data.redis.cluster.nodes, spring-boot-starter-data-redis",
			"spring.data.redis.cluster.nodes[0], spring-boot-starter-data-redis" })
	void addressToWhichNothingConnectsIsNoReasonToForget(String property, String cure) {
		ApplicationContextRunner written = this.runner.withPropertyValues(property + "=there");
		FailureAnalysis analysis = StartFailure.analysis(written);
		assertThat(analysis.getDescription()).contains("'" + property.replace("[0]", "") + "'")
			.contains("forgotten on restart");
		assertThat(analysis.getAction()).contains(cure).contains("'sessionkit.store.type' to 'memory'");
		written.withPropertyValues("sessionkit.store.type=memory")
			.run((context) -> assertThat(context).getBean(SessionStore.class).isInstanceOf(InMemorySessionStore.class));
	}

	@Test
	void addressToWhichOneConnectsThatIsNotForSessionsIsNotRefused() {
		this.runner.withPropertyValues("spring.datasource.url=jdbc:none:", "spring.datasource.jndi-name=")
			.withBean("reports", DataSource.class, SessionStoreAutoConfigurationTests::unused,
					(definition) -> ((AbstractBeanDefinition) definition).setDefaultCandidate(false))
			.run((context) -> assertThat(context).getBean(SessionStore.class).isInstanceOf(InMemorySessionStore.class));
	}

	/** Spring Boot makes no DataSource there, whatever the properties say. */
	@ParameterizedTest
	@ValueSource(strings = { "sessionkit.store.type=jdbc", "sessionkit.enabled=true" })
	void databaseOfR2dbcIsNoReasonToForget(String property) {
		FailureAnalysis analysis = StartFailure.analysis(besideR2dbc().withPropertyValues(property));
		assertThat(analysis.getAction()).contains("define a DataSource bean")
			.contains("beside its ConnectionFactory Spring Boot makes no DataSource");
		besideR2dbc().withPropertyValues("sessionkit.store.type=memory")
			.run((context) -> assertThat(context).getBean(SessionStore.class).isInstanceOf(InMemorySessionStore.class));
	}

	@Test
	void whatIsThereInsteadOfADataSourceIsNamed() {
		assertThat(StartFailure.analysis(besideR2dbc()).getDescription()).contains("'spring.datasource.url'")
			.contains("R2DBC ConnectionFactory [reactive]")
			.contains("no DataSource");
	}

	@Test
	void dataSourceThatIsDefinedBesideR2dbcIsTheStore() {
		besideR2dbc().withUserConfiguration(DataSourceSnippets.BesideR2dbc.class)
			.run((context) -> assertThat(context).getBean(SessionStore.class).isInstanceOf(JdbcSessionStore.class));
	}

	private ApplicationContextRunner besideR2dbc() {
		ClassLoader withR2dbc = new AddedInterface("io.r2dbc.spi.ConnectionFactory");
		Class<?> type = ClassUtils.resolveClassName("io.r2dbc.spi.ConnectionFactory", withR2dbc);
		return this.runner.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
			.withClassLoader(withR2dbc)
			.withPropertyValues("spring.datasource.url=jdbc:h2:mem:beside-r2dbc;DB_CLOSE_DELAY=-1")
			.withInitializer((context) -> registerMock(context, type));
	}

	private static <T> void registerMock(ConfigurableApplicationContext context, Class<T> type) {
		((GenericApplicationContext) context).registerBean("reactive", type, () -> mock(type));
	}

	@Configuration(proxyBeanMethods = false)
	static class MadeDataSource {

		@Bean
		ObjectFactoryBean dataSource() {
			return new ObjectFactoryBean();
		}

	}

	/** Makes something whose type is known when it is there, as JndiObjectFactoryBean. */
	static final class ObjectFactoryBean implements FactoryBean<Object>, InitializingBean {

		private @Nullable DataSource made;

		@Override
		public void afterPropertiesSet() {
			this.made = new DriverManagerDataSource("jdbc:h2:mem:made");
		}

		@Override
		public @Nullable Object getObject() {
			return this.made;
		}

		@Override
		public @Nullable Class<?> getObjectType() {
			return (this.made != null) ? this.made.getClass() : null;
		}

	}

	@Test
	void databaseThatIsNamedNeedsItsLibraries() {
		FailureAnalysis analysis = StartFailure
			.analysis(this.runner.withClassLoader(withoutJdbc()).withPropertyValues("sessionkit.store.type=jdbc"));
		assertThat(analysis.getDescription()).contains(JdbcOperations.class.getName());
		assertThat(analysis.getAction()).contains("org.springframework.boot:spring-boot-starter-jdbc");
	}

	@Test
	void dataSourceWithoutTheLibrariesIsNoReasonToForget() {
		FailureAnalysis analysis = StartFailure
			.analysis(this.runner.withUserConfiguration(OneDataSource.class).withClassLoader(withoutJdbc()));
		assertThat(analysis.getAction()).contains("org.springframework.boot:spring-boot-starter-jdbc")
			.contains("'memory'");
	}

	@ParameterizedTest
	@ValueSource(strings = { "sessionkit.store.type=jdbc", "sessionkit.enabled=true" })
	void severalDataSourcesNeedAPrimaryOne(String property) {
		FailureAnalysis analysis = StartFailure
			.analysis(this.runner.withUserConfiguration(TwoDataSources.class).withPropertyValues(property));
		assertThat(analysis.getDescription()).contains("[orders, reports]");
		assertThat(analysis.getAction()).contains("@Primary").contains("@SessionKitDataSource");
	}

	/**
	 * Class files are hidden too, since configuration classes are read from them.
	 */
	private static FilteredClassLoader withoutJdbc() {
		return new FilteredClassLoader((name) -> Stream
			.of("org.springframework.jdbc.", "org.springframework.boot.jdbc.", "org.springframework.boot.sql.")
			.anyMatch(name.replace('/', '.')::startsWith));
	}

	private static FilteredClassLoader withoutRedis() {
		return new FilteredClassLoader((name) -> Stream.of("org.springframework.data.", "io.lettuce.", "redis.clients.")
			.anyMatch(name.replace('/', '.')::startsWith));
	}

	private static DataSource unused() {
		return new DriverManagerDataSource("jdbc:none:");
	}

	@Configuration(proxyBeanMethods = false)
	@Import(ConfigurationNames.class)
	static class ByName {

	}

	static class ConfigurationNames implements DeferredImportSelector {

		@Override
		public String[] selectImports(AnnotationMetadata metadata) {
			return ImportCandidates.load(AutoConfiguration.class, getClass().getClassLoader())
				.getCandidates()
				.stream()
				.filter((name) -> name.startsWith("io.sessionkit."))
				.toArray(String[]::new);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OneDataSource {

		@Bean
		DataSource dataSource() {
			return unused();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TwoDataSources {

		@Bean
		DataSource orders() {
			return unused();
		}

		@Bean
		DataSource reports() {
			return unused();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OwnStore {

		@Bean
		SessionStore ownStore(StoreOptions options) {
			return new ObservedStore(new InMemorySessionStore(options));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Redis {

		@Bean
		RedisConnectionFactory redisConnectionFactory() {
			return new NoRedis();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TwoConnectionFactories {

		@Bean
		RedisConnectionFactory cache() {
			return new NoRedis();
		}

		@Bean
		RedisConnectionFactory sessions() {
			return new NoRedis();
		}

	}

	static final class NoRedis implements RedisConnectionFactory {

		@Override
		public RedisConnection getConnection() {
			throw new AssertionError("asked for a connection");
		}

		@Override
		public RedisClusterConnection getClusterConnection() {
			throw new AssertionError("asked for a connection");
		}

		@Override
		public RedisSentinelConnection getSentinelConnection() {
			throw new AssertionError("asked for a connection");
		}

		@Override
		public boolean getConvertPipelineAndTxResults() {
			return false;
		}

		@Override
		public DataAccessException translateExceptionIfPossible(RuntimeException ex) {
			throw ex;
		}

	}

}
