package io.sessionkit.autoconfigure.store;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import javax.sql.DataSource;

import io.sessionkit.SessionKey;
import io.sessionkit.autoconfigure.StartFailure;
import io.sessionkit.autoconfigure.internal.StoreLife;
import io.sessionkit.store.SessionStore;
import io.sessionkit.test.MariaDbServer;
import io.sessionkit.test.PostgresServer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.flyway.autoconfigure.FlywayAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.liquibase.autoconfigure.LiquibaseAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests the ways to create the tables: the property on every database that runs here,
 * Flyway, Liquibase. The store looks at the tables after each of them.
 */
class SchemaInitializationTests {

	private static final SessionKey KEY = SessionKey.of("t1");

	private static final String NEVER = "sessionkit.store.jdbc.initialize-schema=never";

	private static final String ALWAYS = "sessionkit.store.jdbc.initialize-schema=always";

	private static final int INSTANCES = 6;

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class, MessageCodecAutoConfiguration.class,
				SessionStoreAutoConfiguration.class));

	@TempDir
	Path directory;

	@ParameterizedTest
	@ValueSource(strings = { "h2", "hsqldb", "sqlite" })
	void alwaysTwiceKeepsWhatIsThere(String database) {
		String url = "spring.datasource.url=" + switch (database) {
			case "h2" -> "jdbc:h2:file:" + this.directory.resolve("sessions");
			case "hsqldb" -> "jdbc:hsqldb:file:" + this.directory.resolve("sessions") + ";shutdown=true";
			default -> "jdbc:sqlite:" + this.directory.resolve("sessions");
		};
		assertThatAlwaysCanBeRepeated(this.runner.withPropertyValues(url, ALWAYS));
	}

	@Test
	void alwaysTwiceKeepsWhatIsThereOnMariaDb() {
		MariaDbServer server = MariaDbServer.running();
		DataSource database = server.dataSource(server.newDatabase());
		assertThatAlwaysCanBeRepeated(
				this.runner.withBean(DataSource.class, () -> database).withPropertyValues(ALWAYS));
	}

	/** As tenants whose databases another one knows. */
	@Test
	void dataSourceThatIsBuiltWithWhatWaitsForItsTablesIsRefusedWithWhatToDo() {
		FailureAnalysis analysis = StartFailure
			.analysis(this.runner.withConfiguration(AutoConfigurations.of(JdbcTemplateAutoConfiguration.class))
				.withUserConfiguration(Tenants.class));
		assertThat(analysis.getDescription()).contains("tenants, jdbcTemplate, sessionKitSchemaInitializer");
		assertThat(analysis.getAction()).contains("new JdbcTemplate(other)");
	}

	@Configuration(proxyBeanMethods = false)
	static class Tenants {

		@Bean
		@Primary
		DataSource main() {
			return new DriverManagerDataSource("jdbc:h2:mem:" + UUID.randomUUID());
		}

		@Bean(defaultCandidate = false)
		@SessionKitDataSource
		DataSource tenants(JdbcTemplate jdbc) {
			return new DriverManagerDataSource("jdbc:h2:mem:" + UUID.randomUUID());
		}

	}

	private static void assertThatAlwaysCanBeRepeated(ApplicationContextRunner always) {
		always.run((context) -> assertThatItWorks(context.getBean(SessionStore.class)));
		always.run((context) -> assertThat(context.getBean(SessionStore.class).messages(KEY)).hasSize(1));
	}

	@RepeatedTest(4)
	void instancesThatStartTogetherAllStart() throws Exception {
		PostgresServer server = PostgresServer.running();
		assertThatAllStartTogether(server.dataSource(server.newDatabase()));
	}

	/** Where each statement of the script is seen by others at once. */
	@RepeatedTest(4)
	void instancesThatStartTogetherOnMariaDbAllStart() throws Exception {
		MariaDbServer server = MariaDbServer.running();
		assertThatAllStartTogether(server.dataSource(server.newDatabase()));
	}

	private void assertThatAllStartTogether(DataSource database) throws Exception {
		CyclicBarrier together = new CyclicBarrier(INSTANCES);
		ExecutorService threads = Executors.newFixedThreadPool(INSTANCES);
		try {
			List<Future<Void>> starts = threads
				.invokeAll(Collections.nCopies(INSTANCES, () -> startAlways(together, database)));
			for (Future<Void> start : starts) {
				start.get();
			}
		}
		finally {
			threads.shutdown();
		}
		assertThat(rows(database, "SESSIONKIT_SCHEMA")).isEqualTo(1);
	}

	private @Nullable Void startAlways(CyclicBarrier together, DataSource database) throws Exception {
		together.await();
		always(database).run((context) -> assertThat(context).hasNotFailed());
		return null;
	}

	@Test
	void tablesWithoutAVersionAreThoseOfAScriptThatWasInterrupted() {
		PostgresServer server = PostgresServer.running();
		DataSource database = server.dataSource(server.newDatabase());
		new JdbcTemplate(database)
			.execute("create table SESSIONKIT_SCHEMA (version integer primary key, compatible_from integer not null)");
		always(database).run((context) -> assertThatItWorks(context.getBean(SessionStore.class)));
	}

	@ParameterizedTest
	@CsvSource({ "SESSIONKIT_RECORD, " + ALWAYS, "SESSIONKIT_RECORD, " + NEVER, "SESSIONKIT_TURN, " + ALWAYS })
	void tableThatIsGoneIsNotMadeAnewUnderSessionsThatAreThere(String table, String mode) {
		MariaDbServer server = MariaDbServer.running();
		DataSource database = server.dataSource(server.newDatabase());
		always(database).run((context) -> assertThatItWorks(context.getBean(SessionStore.class)));
		new JdbcTemplate(database).execute("drop table " + table);
		assertThatItIsGone(table, database, mode);
		assertThatItIsGone(table, database, mode);
	}

	@Test
	void tableThatIsGoneWithThatOfTheVersionIsNotMadeAnewEither() {
		String url = memory();
		DataSource database = new DriverManagerDataSource(url.substring(url.indexOf('=') + 1));
		always(database).run((context) -> assertThatItWorks(context.getBean(SessionStore.class)));
		new JdbcTemplate(database).execute("drop table SESSIONKIT_SCHEMA");
		always(database)
			.run((context) -> assertThat(context.getBean(SessionStore.class).messages(KEY)).as("holds no session")
				.hasSize(1));
		new JdbcTemplate(database).execute("drop table SESSIONKIT_SCHEMA");
		new JdbcTemplate(database).execute("drop table SESSIONKIT_ITEM");
		assertThatItIsGone("SESSIONKIT_SCHEMA, SESSIONKIT_ITEM", database, ALWAYS);
	}

	/**
	 * That nothing can be mixed with what is there, as after all sessions were dropped.
	 */
	@Test
	void tablesAreMadeAnewIfNoneWithSessionsIsLeft() {
		String url = memory();
		DataSource database = new DriverManagerDataSource(url.substring(url.indexOf('=') + 1));
		always(database).run((context) -> assertThatItWorks(context.getBean(SessionStore.class)));
		for (String table : LostTables.others("SESSIONKIT_")) {
			new JdbcTemplate(database).execute("drop table " + table + " cascade");
		}
		assertThat(
				StartFailure.analysis(this.runner.withBean(DataSource.class, () -> database).withPropertyValues(NEVER))
					.getDescription())
			.doesNotContain("were there before");
		always(database).run((context) -> assertThatItWorks(context.getBean(SessionStore.class)));
	}

	@Test
	void tableOfAnApplicationWithTheNameOfTheVersionIsNoneOfSessions() {
		String url = memory();
		DataSource database = new DriverManagerDataSource(url.substring(url.indexOf('=') + 1));
		new JdbcTemplate(database).execute("create table FORM_SCHEMA (id integer)");
		new JdbcTemplate(database).execute("insert into FORM_SCHEMA values (1)");
		assertThat(StartFailure
			.analysis(this.runner.withBean(DataSource.class, () -> database)
				.withPropertyValues(NEVER, "sessionkit.store.jdbc.table-prefix=FORM_"))
			.getDescription()).doesNotContain("were there before");
	}

	private void assertThatItIsGone(String tables, DataSource database, String mode) {
		FailureAnalysis analysis = StartFailure
			.analysis(this.runner.withBean(DataSource.class, () -> database).withPropertyValues(mode));
		assertThat(analysis.getDescription()).contains("but not " + tables + ":").contains("is gone");
		assertThat(analysis.getAction()).contains("Restore all tables").doesNotContain("'always'");
	}

	/**
	 * The indexes of the script would wait for the insert, and all later ones for them.
	 */
	@Test
	void alwaysDoesNotWaitForThoseThatWrite() throws SQLException {
		PostgresServer server = PostgresServer.running();
		DataSource database = server.dataSource(server.newDatabase());
		((PGSimpleDataSource) database).setOptions("-c lock_timeout=3s");
		always(database).run((context) -> assertThatItWorks(context.getBean(SessionStore.class)));
		try (Connection writer = database.getConnection(); Statement insert = writer.createStatement()) {
			writer.setAutoCommit(false);
			insert.execute("insert into SESSIONKIT_RECORD (session_pk, kind, id, revision, payload, written_at)"
					+ " values (1, 'note', 'n', 1, '{}', 1)");
			always(database).run((context) -> assertThat(context).hasNotFailed());
			writer.rollback();
		}
	}

	@Test
	void alwaysNeedsNoRightToCreateTablesThatAreThere() {
		PostgresServer server = PostgresServer.running();
		DataSource database = server.dataSource(server.newDatabase());
		always(database).run((context) -> assertThat(context).hasNotFailed());
		DataSource limited = limited(database, "grant select, insert, update, delete on all tables in schema public");
		always(limited).run((context) -> assertThatItWorks(context.getBean(SessionStore.class)));
	}

	@Test
	void userWhoMayNotCreateTablesIsReportedWithTheScript() {
		PostgresServer server = PostgresServer.running();
		DataSource limited = limited(server.dataSource(server.newDatabase()), "grant usage on schema public");
		FailureAnalysis analysis = StartFailure.analysis(always(limited));
		assertThat(analysis.getDescription()).contains("io/sessionkit/store/jdbc/schema-postgresql.sql")
			.contains("SQLSTATE 42501");
		assertThat(analysis.getAction()).contains("Let this user create tables")
			.contains("'sessionkit.store.jdbc.initialize-schema' to 'never'");
	}

	@ParameterizedTest
	@ValueSource(strings = { ALWAYS, NEVER })
	void userWhoMayNotReadTheTablesIsReportedWithTheRightsThatAreMissing(String mode) {
		PostgresServer server = PostgresServer.running();
		DataSource database = server.dataSource(server.newDatabase());
		always(database).run((context) -> assertThat(context).hasNotFailed());
		DataSource limited = limited(database, "grant usage on schema public");
		FailureAnalysis analysis = StartFailure
			.analysis(this.runner.withBean(DataSource.class, () -> limited).withPropertyValues(mode));
		assertThat(analysis.getDescription()).contains("SQLSTATE 42501");
		assertThat(analysis.getAction()).contains("Grant this user select, insert, update and delete")
			.contains("SESSIONKIT_RECORD")
			.contains("select on SESSIONKIT_SCHEMA")
			.doesNotContain("always");
	}

	@ParameterizedTest
	@ValueSource(strings = { "select", "select, insert, update" })
	void userWhoMayNotWriteToTheTablesIsReportedWithTheRightsThatAreMissing(String rights) {
		PostgresServer server = PostgresServer.running();
		DataSource database = server.dataSource(server.newDatabase());
		always(database).run((context) -> assertThat(context).hasNotFailed());
		DataSource limited = limited(database, "grant " + rights + " on all tables in schema public");
		FailureAnalysis analysis = StartFailure.analysis(always(limited));
		assertThat(analysis.getDescription()).contains("may not").contains("delete from SESSIONKIT_RECORD");
		assertThat(analysis.getDescription().contains("insert into SESSIONKIT_TURN"))
			.isEqualTo(rights.equals("select"));
		assertThat(analysis.getAction()).contains("Grant this user select, insert, update and delete");
	}

	@Test
	void databaseThatTakesNoWritesIsReported() {
		PostgresServer server = PostgresServer.running();
		DataSource database = server.dataSource(server.newDatabase());
		always(database).run((context) -> assertThat(context).hasNotFailed());
		new JdbcTemplate(database).execute("alter database \"" + ((PGSimpleDataSource) database).getDatabaseName()
				+ "\" set default_transaction_read_only = on");
		FailureAnalysis analysis = StartFailure
			.analysis(this.runner.withBean(DataSource.class, () -> database).withPropertyValues(NEVER));
		assertThat(analysis.getDescription()).contains("takes no writes").contains("SQLSTATE 25006");
	}

	@Test
	void dataSourceThatIsReadOnlyIsReported() {
		PostgresServer server = PostgresServer.running();
		PGSimpleDataSource database = (PGSimpleDataSource) server.dataSource(server.newDatabase());
		always(database).run((context) -> assertThat(context).hasNotFailed());
		database.setReadOnly(true);
		FailureAnalysis analysis = StartFailure.analysis(always(database));
		assertThat(analysis.getDescription()).contains("takes no writes").contains("read-only");
		assertThat(analysis.getAction()).contains("not read-only");
		FailureAnalysis lazy = StartFailure.analysis(always(new LazyConnectionDataSourceProxy(database)));
		assertThat(lazy.getDescription()).contains("the connection is read-only");
	}

	@Test
	void databaseThatDoesNotKeepAllTextsIsReportedAndHasNoTables() {
		PostgresServer server = PostgresServer.running();
		String name = server.newDatabase() + "_latin1";
		new JdbcTemplate(server.dataSource("postgres"))
			.execute("create database " + name + " encoding 'LATIN1' lc_collate 'C' lc_ctype 'C' template template0");
		DataSource database = server.dataSource(name);
		assertThat(StartFailure.analysis(always(database)).getDescription()).contains("encoding LATIN1");
		assertThat(rows(database, "information_schema.tables where table_name like 'sessionkit%'")).isZero();
	}

	@Test
	void h2InTheModeOfOracleIsReported() {
		FailureAnalysis analysis = StartFailure.analysis(this.runner.withPropertyValues(memory() + ";MODE=Oracle"));
		assertThat(analysis.getDescription()).contains("MODE=Oracle");
	}

	private ApplicationContextRunner always(DataSource database) {
		return this.runner.withBean(DataSource.class, () -> database).withPropertyValues(ALWAYS);
	}

	/** The same database for a user who may not create tables. */
	private static DataSource limited(DataSource database, String grant) {
		String url = ((PGSimpleDataSource) database).getUrl();
		String user = "limited_" + UUID.randomUUID().toString().replace('-', '_');
		JdbcTemplate owner = new JdbcTemplate(database);
		owner.execute("create role " + user + " login password 'limited'");
		owner.execute("revoke create on schema public from public");
		owner.execute(grant + " to " + user);
		return new DriverManagerDataSource(url, user, "limited");
	}

	@Test
	void hsqldbInMemoryIsEmbedded() {
		this.runner.withPropertyValues("spring.datasource.url=jdbc:hsqldb:mem:" + UUID.randomUUID())
			.run((context) -> assertThatItWorks(context.getBean(SessionStore.class)));
	}

	@ParameterizedTest
	@ValueSource(strings = { "jdbc:sqlite::memory:", "jdbc:sqlite:", "jdbc:sqlite:file:x?mode=memory" })
	void sqliteInMemoryIsRefusedSinceEachConnectionHasItsOwn(String url) {
		FailureAnalysis analysis = StartFailure
			.analysis(this.runner.withPropertyValues("spring.datasource.url=" + url, ALWAYS));
		assertThat(analysis.getDescription()).contains("SQLite database in memory");
		assertThat(analysis.getAction()).contains("jdbc:sqlite:sessions.db").contains("cache=shared");
	}

	@Test
	void sqliteInMemoryOnOneConnectionWorksAlsoBehindAProxy() {
		SingleConnectionDataSource single = new SingleConnectionDataSource("jdbc:sqlite::memory:", true);
		single.setAutoCommit(true);
		try {
			always(new LazyConnectionDataSourceProxy(single)).run((context) -> assertThat(context).hasNotFailed());
		}
		finally {
			single.destroy();
		}
	}

	@Test
	void sqliteInMemoryThatIsSharedIsKnownToEndWithTheProcess() {
		this.runner.withPropertyValues("spring.datasource.url=jdbc:sqlite:file:shared?mode=memory&cache=shared", ALWAYS)
			.run((context) -> {
				assertThatItWorks(context.getBean(SessionStore.class));
				assertThat(context.getBean(StoreLife.class).endsWithProcess()).isTrue();
			});
	}

	@Test
	void sqliteInADirectoryThatIsMissingIsReported() {
		FailureAnalysis analysis = StartFailure.analysis(this.runner.withPropertyValues(
				"spring.datasource.url=jdbc:sqlite:" + this.directory.resolve("none/sessions"), ALWAYS));
		assertThat(analysis.getDescription()).doesNotContain("null");
		assertThat(analysis.getAction()).contains("directory");
	}

	@Test
	void fileThatAnotherProcessHasOpenIsReported() {
		DataSource locked = new AbstractDataSource() {

			@Override
			public Connection getConnection() throws SQLException {
				throw new SQLException("secret", "90020", 90020, new IllegalStateException("MVStore"));
			}

			@Override
			public Connection getConnection(String user, String password) throws SQLException {
				return getConnection();
			}

		};
		FailureAnalysis analysis = StartFailure.analysis(always(locked));
		assertThat(analysis.getDescription()).contains("SQLSTATE 90020").doesNotContain("secret");
		assertThat(analysis.getAction()).contains("Another process has the file of the database open");
	}

	@Test
	void routingDataSourceWithoutADefaultIsReported() {
		AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {

			@Override
			protected @Nullable Object determineCurrentLookupKey() {
				return null;
			}

		};
		routing.setTargetDataSources(Map.of("tenant", new DriverManagerDataSource("jdbc:h2:mem:tenant")));
		FailureAnalysis analysis = StartFailure.analysis(always(routing));
		assertThat(analysis.getDescription()).contains("gave no connection");
		assertThat(analysis.getAction()).contains("AbstractRoutingDataSource needs a default target");
	}

	@Test
	void schemaThatIsMissingIsReported() {
		PostgresServer server = PostgresServer.running();
		PGSimpleDataSource database = (PGSimpleDataSource) server.dataSource(server.newDatabase());
		database.setCurrentSchema("nope");
		assertThat(StartFailure.analysis(always(database)).getAction()).contains("Create the schema")
			.contains("currentSchema");
	}

	@Test
	void alwaysIsNotAdvisedWhereItHasLeftTablesAsTheyAre() {
		String url = memory();
		ApplicationContextRunner always = this.runner.withPropertyValues(url, ALWAYS);
		always.run((context) -> new JdbcTemplate(context.getBean(DataSource.class))
			.execute("alter table SESSIONKIT_TURN drop column outcome"));
		FailureAnalysis analysis = StartFailure.analysis(always);
		assertThat(analysis.getDescription()).containsIgnoringCase("not found: t.outcome");
		assertThat(analysis.getAction()).contains("leaves tables that are there as they are")
			.contains("DB_CLOSE_DELAY")
			.doesNotContain("'always'");
	}

	@Test
	void flywayCreatesTheTablesBeforeTheStoreLooksForThem() throws IOException {
		Files.writeString(this.directory.resolve("V1__sessions.sql"), script());
		ApplicationContextRunner migrated = this.runner.withPropertyValues(memory(), NEVER,
				"spring.flyway.locations=filesystem:" + this.directory);
		FailureAnalysis missing = StartFailure.analysis(migrated);
		assertThat(missing.getDescription()).contains("schema-h2.sql");
		migrated.withConfiguration(AutoConfigurations.of(FlywayAutoConfiguration.class)).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThatItWorks(context.getBean(SessionStore.class));
			assertThat(rows(context.getBean(DataSource.class),
					"\"flyway_schema_history\" where \"script\" = 'V1__sessions.sql'"))
				.isEqualTo(1);
		});
	}

	@Test
	void liquibaseCreatesTheTablesBeforeTheStoreLooksForThem() {
		this.runner
			.withPropertyValues(memory(), NEVER, "spring.liquibase.change-log=classpath:db/changelog/sessions.yaml")
			.withConfiguration(AutoConfigurations.of(LiquibaseAutoConfiguration.class))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThatItWorks(context.getBean(SessionStore.class));
				assertThat(rows(context.getBean(DataSource.class), "DATABASECHANGELOG")).isEqualTo(1);
			});
	}

	@Test
	void tablesThatAMigrationMadeOfAnotherVersionAreRefused() throws IOException {
		Files.writeString(this.directory.resolve("V1__sessions.sql"), script());
		Files.writeString(this.directory.resolve("V2__later.sql"),
				"update SESSIONKIT_SCHEMA set version = 99, compatible_from = 99;");
		FailureAnalysis analysis = StartFailure.analysis(
				this.runner.withPropertyValues(memory(), NEVER, "spring.flyway.locations=filesystem:" + this.directory)
					.withConfiguration(AutoConfigurations.of(FlywayAutoConfiguration.class)));
		assertThat(analysis.getDescription()).contains("99").contains("Start a newer SessionKit");
		assertThat(analysis.getAction()).startsWith("Do what the description says");
	}

	private static String script() throws IOException {
		return new ClassPathResource("io/sessionkit/store/jdbc/schema-h2.sql")
			.getContentAsString(StandardCharsets.UTF_8);
	}

	private static String memory() {
		return "spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";
	}

	private static int rows(DataSource dataSource, String table) {
		Integer count = new JdbcTemplate(dataSource).queryForObject("select count(*) from " + table, Integer.class);
		return (count != null) ? count : 0;
	}

	private static void assertThatItWorks(SessionStore store) {
		store.add(KEY, List.of(new UserMessage("hello")));
		assertThat(store.messages(KEY)).extracting(Message::getText).containsExactly("hello");
	}

}
