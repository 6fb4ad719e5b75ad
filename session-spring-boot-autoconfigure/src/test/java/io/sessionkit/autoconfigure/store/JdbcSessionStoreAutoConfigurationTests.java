package io.sessionkit.autoconfigure.store;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

import javax.sql.DataSource;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.autoconfigure.StartFailure;
import io.sessionkit.autoconfigure.advisor.SessionAdvisorAutoConfiguration;
import io.sessionkit.autoconfigure.internal.StoreLife;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.jdbc.JdbcSessionStore;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.model.chat.client.autoconfigure.ChatClientAutoConfiguration;
import org.springframework.ai.model.tool.autoconfigure.ToolCallingAutoConfiguration;
import org.springframework.beans.factory.config.BeanDefinitionCustomizer;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.sql.init.DatabaseInitializationSettings;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

@Order(1)
class JdbcSessionStoreAutoConfigurationTests {

	private static final SessionKey KEY = SessionKey.of("t1");

	private static final String SCRIPT = "io/sessionkit/store/jdbc/schema-h2.sql";

	private final ApplicationContextRunner bare = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(MessageCodecAutoConfiguration.class,
				SessionStoreAutoConfiguration.class, SessionAdvisorAutoConfiguration.class));

	private final ApplicationContextRunner runner = this.bare
		.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class));

	@TempDir
	Path directory;

	@Test
	void dataSourceAloneIsReasonEnough() {
		this.runner.withPropertyValues(memory()).run((context) -> {
			assertThat(context).hasNotFailed().hasSingleBean(SessionStore.class);
			assertThat(context).getBean(SessionStore.class).isInstanceOf(JdbcSessionStore.class);
			assertThatItWorks(context.getBean(SessionStore.class));
		});
	}

	@Test
	void databaseThatIsNamedWinsOverRedis() {
		this.runner.withPropertyValues(memory(), "sessionkit.store.type=jdbc")
			.withUserConfiguration(SessionStoreAutoConfigurationTests.Redis.class)
			.run((context) -> assertThat(context).getBean(SessionStore.class).isInstanceOf(JdbcSessionStore.class));
	}

	@Test
	void callThatNamesASessionIsStoredInTheDatabase() {
		ScriptedChatModel model = new ScriptedChatModel().says("hello Ada");
		this.runner.withPropertyValues(memory())
			.withBean(ScriptedChatModel.class, () -> model)
			.withConfiguration(
					AutoConfigurations.of(ToolCallingAutoConfiguration.class, ChatClientAutoConfiguration.class))
			.run((context) -> {
				ChatClient chat = context.getBean(ChatClient.Builder.class).build();
				chat.prompt().user("I am Ada").advisors(SessionAdvisor.session(KEY)).call().content();
				assertThat(context.getBean(SessionStore.class).messages(KEY)).extracting(Message::getText)
					.containsExactly("I am Ada", "hello Ada");
				assertThat(rows(context.getBean(DataSource.class), "SESSIONKIT_TURN")).isEqualTo(1);
			});
	}

	@Test
	void timeToLiveReachesTheSessions() {
		this.runner.withPropertyValues(memory(), "sessionkit.time-to-live=30d").run((context) -> {
			SessionStore store = context.getBean(SessionStore.class);
			store.add(KEY, List.of(new UserMessage("hello")));
			assertThat(store.find(KEY)).get()
				.satisfies((session) -> assertThat(session.expiresAt())
					.isEqualTo(session.updatedAt().plus(Duration.ofDays(30))));
		});
	}

	@Test
	void databaseInAFileIsLeftAloneAndItsMissingTablesAreReported() {
		FailureAnalysis analysis = StartFailure.analysis(this.runner.withPropertyValues(file()));
		assertThat(analysis.getDescription()).contains("tables").contains(SCRIPT);
		assertThat(analysis.getAction()).contains("'sessionkit.store.jdbc.initialize-schema' to 'always'")
			.contains("the script that is named above")
			.doesNotContain("@@");
	}

	@Test
	void tablesInAFileAreCreatedWhereThatIsAskedForAndKeepTheirSessions() {
		ApplicationContextRunner always = this.runner.withPropertyValues(file(),
				"sessionkit.store.jdbc.initialize-schema=always");
		always.run((context) -> context.getBean(SessionStore.class).add(KEY, List.of(new UserMessage("hello"))));
		always.run((context) -> assertThat(context.getBean(SessionStore.class).messages(KEY)).hasSize(1));
		this.runner.withPropertyValues(file())
			.run((context) -> assertThat(context.getBean(SessionStore.class).messages(KEY)).hasSize(1));
	}

	@Test
	void missingTablesAreReportedWhereNobodyCreatesThem() {
		FailureAnalysis analysis = StartFailure
			.analysis(this.runner.withPropertyValues(memory(), "sessionkit.store.jdbc.initialize-schema=never"));
		assertThat(analysis.getDescription()).contains(SCRIPT);
		assertThat(analysis.getAction()).contains("'sessionkit.store.jdbc.initialize-schema' to 'always'");
	}

	@Test
	void storeIsCreatedAfterTheTablesOfTheApplicationsScripts() {
		this.runner.withPropertyValues(memory(), "sessionkit.store.jdbc.initialize-schema=never")
			.withConfiguration(AutoConfigurations.of(LateScripts.class))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThatItWorks(context.getBean(SessionStore.class));
			});
	}

	@Test
	void scriptThatFailsIsReported() {
		FailureAnalysis analysis = StartFailure.analysis(this.runner
			.withPropertyValues(memory() + ";INIT=create table if not exists SESSIONKIT_SESSION(x int)"));
		assertThat(analysis.getDescription()).contains(SCRIPT).contains("SQLSTATE 42");
		assertThat(analysis.getCause()).hasStackTraceContaining("Failed to execute SQL script");
	}

	@Test
	void tablesOfAnotherVersionAreReported() {
		String url = memory();
		this.runner.withPropertyValues(url).run((context) -> {
			new JdbcTemplate(context.getBean(DataSource.class))
				.execute("update SESSIONKIT_SCHEMA set version = 99, compatible_from = 99");
			FailureAnalysis analysis = StartFailure.analysis(this.runner.withPropertyValues(url));
			assertThat(analysis.getDescription()).contains("99");
		});
	}

	@Test
	void prefixOfItsOwnNamesTablesThatWereCreatedByHand() {
		String url = memory();
		this.bare.withBean(DataSource.class, () -> prepared(url, "CHAT_"))
			.withPropertyValues("sessionkit.store.jdbc.table-prefix=CHAT_")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThatItWorks(context.getBean(SessionStore.class));
				assertThat(rows(context.getBean(DataSource.class), "CHAT_TURN")).isEqualTo(1);
			});
	}

	@Test
	void missingTablesWithAPrefixOfTheirOwnAreReported() {
		FailureAnalysis analysis = StartFailure
			.analysis(this.runner.withPropertyValues(memory(), "sessionkit.store.jdbc.table-prefix=CHAT_"));
		assertThat(analysis.getAction()).contains("'CHAT_' in place of 'SESSIONKIT_'")
			.contains("'sessionkit.store.jdbc.table-prefix'")
			.doesNotContain("always")
			.doesNotContain("index");
	}

	@Test
	void missingTablesWithAPrefixThatHasASchemaAreReportedWithTheNamesThatTakeNone() {
		FailureAnalysis analysis = StartFailure
			.analysis(this.runner.withPropertyValues(memory(), "sessionkit.store.jdbc.table-prefix=app.CHAT_"));
		assertThat(analysis.getAction())
			.contains("'app.CHAT_' in place of 'SESSIONKIT_' where that begins the name of a table")
			.contains("'CHAT_' where it begins the name of an index");
	}

	@ParameterizedTest
	@ValueSource(strings = { "embedded", "always", "never" })
	void databaseThatIsAwayIsReportedWithoutItsUrl(String mode) {
		FailureAnalysis analysis = StartFailure
			.analysis(this.runner.withPropertyValues("spring.datasource.url=jdbc:h2:tcp://127.0.0.1:1/secret",
					"sessionkit.store.jdbc.initialize-schema=" + mode));
		assertThat(analysis.getDescription()).contains("gave no connection").doesNotContain("secret");
		assertThat(analysis.getAction()).contains("spring.datasource.url");
	}

	@ParameterizedTest
	@CsvSource({ "3D000, 0, create it", "42000, 1049, create it", "90146, 90146, create it",
			"28P01, 0, refused the user", "28000, 1045, refused the user", "08001, 0, Start the database",
			"90020, 90020, 'process of its own (H2: ''jdbc:h2:tcp:'')'", "3D000, 0, unless it has one of its own",
			", 0, Start the database" })
	void whatIsToBeDoneFollowsFromWhatTheServerSays(String attributes, int error, String action) {
		DataSource refusing = new AbstractDataSource() {

			@Override
			public Connection getConnection() throws SQLException {
				throw new SQLException("pool", new SQLException("secret", attributes, error));
			}

			@Override
			public Connection getConnection(String user, String password) throws SQLException {
				return getConnection();
			}

		};
		FailureAnalysis analysis = StartFailure.analysis(this.bare.withBean(DataSource.class, () -> refusing));
		assertThat(analysis.getAction()).contains(action);
		assertThat(analysis.getDescription() + analysis.getAction()).doesNotContain("secret");
	}

	@Test
	void databaseFileThatIsNotThereIsReported() {
		FailureAnalysis analysis = StartFailure
			.analysis(this.runner.withPropertyValues("spring.datasource.url=jdbc:h2:file:./target/none;IFEXISTS=TRUE"));
		assertThat(analysis.getAction()).contains("create it");
	}

	@Test
	void missingDriverIsReportedByItsName() {
		FailureAnalysis analysis = StartFailure
			.analysis(this.runner.withPropertyValues("spring.datasource.url=jdbc:db2://localhost/secret"));
		assertThat(analysis.getDescription()).contains("com.ibm.db2.jcc.DB2Driver")
			.doesNotContain("localhost", "spring.datasource.url");
		assertThat(analysis.getAction()).contains("dependency");
	}

	@ParameterizedTest
	@ValueSource(strings = { "embedded", "always", "never" })
	void databaseThatTheStoreDoesNotKnowIsReported(String mode) {
		FailureAnalysis analysis = StartFailure.analysis(this.runner.withPropertyValues(
				"spring.datasource.url=jdbc:derby:memory:" + UUID.randomUUID() + ";create=true",
				"sessionkit.store.jdbc.initialize-schema=" + mode));
		assertThat(analysis.getDescription()).contains("Derby").contains("PostgreSQL");
	}

	@Test
	void primaryDataSourceIsTheOneOfTheStore() {
		DataSource other = new DriverManagerDataSource("jdbc:none:");
		DataSource primary = dataSource(memory());
		this.bare.withBean("other", DataSource.class, () -> other)
			.withBean("main", DataSource.class, () -> primary, (definition) -> definition.setPrimary(true))
			.run((context) -> assertThatItWorks(context.getBean(SessionStore.class)));
	}

	@Test
	void markedDataSourceIsTheOneOfTheStore() {
		DataSource primary = new DriverManagerDataSource("jdbc:none:");
		this.bare.withBean("main", DataSource.class, () -> primary, (definition) -> definition.setPrimary(true))
			.withUserConfiguration(Marked.class)
			.run((context) -> {
				assertThatItWorks(context.getBean(SessionStore.class));
				assertThat(rows(context.getBean("sessions", DataSource.class), "SESSIONKIT_TURN")).isEqualTo(1);
				assertThat(context.getBean(StoreLife.class).endsWithProcess()).isTrue();
			});
	}

	@Test
	void markedDataSourceNeedsNoPrimaryOne() {
		this.bare.withBean("one", DataSource.class, () -> new DriverManagerDataSource("jdbc:none:"))
			.withBean("two", DataSource.class, () -> new DriverManagerDataSource("jdbc:none:"))
			.withUserConfiguration(Marked.class)
			.run((context) -> assertThatItWorks(context.getBean(SessionStore.class)));
	}

	@Test
	void transactionOfTheMarkedDataSourceTakesTheSessionsAlong() {
		this.bare
			.withBean("main", DataSource.class, () -> dataSource(memory()), (definition) -> definition.setPrimary(true))
			.withUserConfiguration(Marked.class)
			.run((context) -> {
				SessionStore store = context.getBean(SessionStore.class);
				addAndRollBack(store, context.getBean("sessions", DataSource.class));
				assertThat(store.find(KEY)).isEmpty();
				addAndRollBack(store, context.getBean("main", DataSource.class));
				assertThat(store.find(KEY)).isPresent();
			});
	}

	private static void addAndRollBack(SessionStore store, DataSource database) {
		new TransactionTemplate(new DataSourceTransactionManager(database)).executeWithoutResult((tx) -> {
			store.add(KEY, List.of(new UserMessage("hello")));
			tx.setRollbackOnly();
		});
	}

	@Test
	void dataSourcesThatAreNotCandidatesDoNotCount() {
		DataSource only = dataSource(memory());
		BeanDefinitionCustomizer hidden = (definition) -> definition.setAutowireCandidate(false);
		BeanDefinitionCustomizer fallback = (definition) -> definition.setFallback(true);
		this.bare.withBean("hidden", DataSource.class, () -> new DriverManagerDataSource("jdbc:none:"), hidden)
			.withBean("fallback", DataSource.class, () -> new DriverManagerDataSource("jdbc:none:"), fallback)
			.withBean("only", DataSource.class, () -> only)
			.run((context) -> assertThatItWorks(context.getBean(SessionStore.class)));
	}

	@Test
	void dataSourcesOfAParentAreChosenByTheirMarks() {
		DataSource primary = dataSource(memory());
		try (GenericApplicationContext parent = new GenericApplicationContext()) {
			parent.registerBean("other", DataSource.class, () -> new DriverManagerDataSource("jdbc:none:"));
			parent.registerBean("main", DataSource.class, () -> primary, (definition) -> definition.setPrimary(true));
			parent.refresh();
			this.bare.withParent(parent).run((context) -> assertThatItWorks(context.getBean(SessionStore.class)));
		}
	}

	@Test
	void markedDataSourceOfAParentIsTheOneOfTheStore() {
		try (AnnotationConfigApplicationContext parent = new AnnotationConfigApplicationContext()) {
			parent.registerBean("main", DataSource.class, () -> new DriverManagerDataSource("jdbc:none:"));
			parent.register(Marked.class);
			parent.refresh();
			this.bare.withParent(parent).run((context) -> {
				assertThatItWorks(context.getBean(SessionStore.class));
				assertThat(rows(parent.getBean("sessions", DataSource.class), "SESSIONKIT_TURN")).isEqualTo(1);
			});
		}
	}

	@Test
	void noTransactionManagerIsNeeded() {
		this.runner.withPropertyValues(memory()).run((context) -> {
			assertThat(context).doesNotHaveBean(PlatformTransactionManager.class);
			assertThatItWorks(context.getBean(SessionStore.class));
		});
	}

	@Test
	void transactionOfTheApplicationTakesTheSessionsAlong() {
		this.runner.withPropertyValues(memory())
			.withConfiguration(AutoConfigurations.of(DataSourceTransactionManagerAutoConfiguration.class))
			.run((context) -> {
				SessionStore store = context.getBean(SessionStore.class);
				new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
					.executeWithoutResult((tx) -> {
						store.add(KEY, List.of(new UserMessage("hello")));
						tx.setRollbackOnly();
					});
				assertThat(store.find(KEY)).isEmpty();
				assertThatItWorks(store);
			});
	}

	@Test
	void transactionManagerOfSomethingElseDoesNotMatter() {
		this.runner.withPropertyValues(memory())
			.withBean(PlatformTransactionManager.class, OtherTransactionManager::new)
			.run((context) -> assertThatItWorks(context.getBean(SessionStore.class)));
	}

	private static void assertThatItWorks(SessionStore store) {
		store.add(KEY, List.of(new UserMessage("hello")));
		assertThat(store.messages(KEY)).extracting(Message::getText).containsExactly("hello");
	}

	private static String memory() {
		return "spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";
	}

	private String file() {
		return "spring.datasource.url=jdbc:h2:file:" + this.directory.resolve("sessions");
	}

	private static DataSource dataSource(String property) {
		return new DriverManagerDataSource(property.substring(property.indexOf('=') + 1));
	}

	private static DataSource prepared(String property, String prefix) {
		DataSource dataSource = dataSource(property);
		try {
			String script = new ClassPathResource(SCRIPT).getContentAsString(StandardCharsets.UTF_8);
			byte[] edited = script.replace("SESSIONKIT_", prefix).getBytes(StandardCharsets.UTF_8);
			new ResourceDatabasePopulator(new ByteArrayResource(edited)).execute(dataSource);
		}
		catch (IOException ex) {
			throw new AssertionError(ex);
		}
		return dataSource;
	}

	private static int rows(DataSource dataSource, String table) {
		Integer count = new JdbcTemplate(dataSource).queryForObject("select count(*) from " + table, Integer.class);
		return (count != null) ? count : 0;
	}

	@Configuration(proxyBeanMethods = false)
	static class Marked {

		@Bean(defaultCandidate = false)
		@SessionKitDataSource
		DataSource sessions() {
			return dataSource(memory());
		}

	}

	/** Registered last, so that only a dependency can put it before the store. */
	@AutoConfiguration(after = SessionStoreAutoConfiguration.class)
	static class LateScripts {

		@Bean
		DataSourceScriptDatabaseInitializer lateScripts(DataSource dataSource) {
			DatabaseInitializationSettings settings = new DatabaseInitializationSettings();
			settings.setMode(DatabaseInitializationMode.ALWAYS);
			settings.setSchemaLocations(List.of("classpath:" + SCRIPT));
			return new DataSourceScriptDatabaseInitializer(dataSource, settings);
		}

	}

	private static final class OtherTransactionManager extends AbstractPlatformTransactionManager {

		@Override
		protected Object doGetTransaction() {
			throw new AssertionError("asked for a transaction");
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
			throw new AssertionError("asked for a transaction");
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
			throw new AssertionError("asked for a transaction");
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
			throw new AssertionError("asked for a transaction");
		}

	}

}
