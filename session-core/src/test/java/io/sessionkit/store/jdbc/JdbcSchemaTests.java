package io.sessionkit.store.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;

import javax.sql.DataSource;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.codec.UnreadablePayloadException;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.Window;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.chat.messages.Message;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Scripts, table names, and databases that are not as they should be.
 */
class JdbcSchemaTests {

	private static final StoreOptions OPTIONS = StoreOptions.of(JsonMessageCodec.create());

	private static final SessionKey KEY = SessionKey.of("owner", "thread");

	enum Kind {

		H2("h2"), POSTGRES("postgresql"), MARIADB("mariadb"), SQLITE("sqlite"), HSQLDB("hsqldb");

		private final String id;

		Kind(String id) {
			this.id = id;
		}

		TestDatabase database() {
			return switch (this) {
				case H2 -> TestDatabase.h2();
				case POSTGRES -> TestDatabase.postgres();
				case MARIADB -> TestDatabase.mariaDb();
				case SQLITE -> TestDatabase.sqlite();
				case HSQLDB -> TestDatabase.hsqldb("mvcc");
			};
		}

		String script() {
			return "io/sessionkit/store/jdbc/schema-" + this.id + ".sql";
		}

	}

	@ParameterizedTest
	@EnumSource
	void scriptRunsTwiceAndKeepsWhatIsThere(Kind kind) {
		TestDatabase database = kind.database().created();
		JdbcSessionStore store = new JdbcSessionStore(database.direct(), OPTIONS);
		store.add(KEY, JdbcTransactionContract.messages("text"));
		database.runScript();
		store.verifySchema();
		assertThat(store.messages(KEY)).hasSize(1);
		assertThat(database.sql().queryForList("select version from SESSIONKIT_SCHEMA", Integer.class))
			.containsExactly(2);
	}

	@ParameterizedTest
	@EnumSource
	void missingTablesAreNamedWithPropertyAndScript(Kind kind) {
		JdbcSessionStore store = new JdbcSessionStore(kind.database().direct(), OPTIONS);
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(store::verifySchema)
			.withMessageContaining("sessionkit.store.jdbc.initialize-schema")
			.withMessageMatching("(?is).*not found: \\S*SESSIONKIT_SCHEMA\\).*")
			.withMessageContaining(kind.script());
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> store.find(KEY))
			.withMessageContaining(kind.script());
	}

	@ParameterizedTest
	@EnumSource
	void missingColumnIsFound(Kind kind) {
		for (String column : List.of("TURN drop column outcome", "SESSION drop column stamp_3")) {
			TestDatabase database = kind.database().created();
			database.sql().execute("alter table SESSIONKIT_" + column);
			assertThatExceptionOfType(StoreUnavailableException.class).as(column)
				.isThrownBy(new JdbcSessionStore(database.direct(), OPTIONS)::verifySchema)
				.withMessageContaining(kind.script())
				.withMessageMatching("(?is).*not found: \\S*" + column.replaceAll(".* ", "") + "\\).*");
		}
	}

	@ParameterizedTest
	@EnumSource
	void tablesThatAreTooNewAreRefused(Kind kind) {
		TestDatabase database = kind.database().created();
		database.sql().update("update SESSIONKIT_SCHEMA set version = 4, compatible_from = 3");
		assertThatIllegalStateException().isThrownBy(new JdbcSessionStore(database.direct(), OPTIONS)::verifySchema)
			.withMessageContaining("SESSIONKIT_SCHEMA")
			.withMessageContaining("version 4")
			.withMessageContaining("version 3 or newer")
			.withMessageContaining("version 2 of " + kind.script());
	}

	@ParameterizedTest
	@EnumSource
	void tablesOfBuildsBeforeTheFirstReleaseAreRefusedBeforeAColumnIsMissed(Kind kind) {
		TestDatabase database = kind.database().created();
		database.sql().update("update SESSIONKIT_SCHEMA set version = 1, compatible_from = 1");
		database.sql().execute("alter table SESSIONKIT_SESSION drop column attributes");
		assertThatIllegalStateException().isThrownBy(new JdbcSessionStore(database.direct(), OPTIONS)::verifySchema)
			.withMessageContaining("version 1;")
			.withMessageContaining("needs version 2 of " + kind.script())
			.withMessageContaining("drop them")
			.withMessageContaining("sessionkit.store.jdbc.table-prefix");
	}

	@ParameterizedTest
	@EnumSource
	void tablesThatDoNotNameTheirVersionAreRefused(Kind kind) {
		TestDatabase database = kind.database().created();
		database.sql().update("delete from SESSIONKIT_SCHEMA");
		assertThatIllegalStateException().isThrownBy(new JdbcSessionStore(database.direct(), OPTIONS)::verifySchema)
			.withMessageContaining("SESSIONKIT_SCHEMA has no row")
			.withMessageContaining("Run " + kind.script())
			.withMessageNotContaining("version 0");
	}

	/**
	 * As in an upgrade that goes from instance to instance: a process that has begun
	 * before the migration goes on, and one that begins after it starts.
	 */
	@ParameterizedTest
	@EnumSource
	void tablesThatHaveGainedAColumnServeThisVersionToo(Kind kind) {
		TestDatabase database = kind.database().created();
		JdbcSessionStore running = new JdbcSessionStore(database.direct(), OPTIONS);
		running.add(KEY, JdbcTransactionContract.messages("before"));
		for (String table : List.of("SESSION", "TURN", "ITEM", "RECORD")) {
			database.sql().execute("alter table SESSIONKIT_" + table + " add column note varchar(10)");
		}
		database.sql().update("update SESSIONKIT_SCHEMA set version = 3");
		running.add(KEY, JdbcTransactionContract.messages("during"));
		JdbcSessionStore started = new JdbcSessionStore(database.direct(), OPTIONS);
		started.verifySchema();
		started.add(KEY, JdbcTransactionContract.messages("after"));
		started.put(KEY, RecordWrite.create("note", "1", "text"));
		assertThat(running.messages(KEY)).extracting(Message::getText).containsExactly("before", "during", "after");
		running.erase(KEY);
		assertThat(database.leftOf(KEY)).isZero();
	}

	@ParameterizedTest
	@EnumSource
	void copyOfTheScriptServesAnotherPrefix(Kind kind) {
		TestDatabase database = kind.database();
		String copy = text(kind.script()).replace("SESSIONKIT_", "my_");
		new ResourceDatabasePopulator(new ByteArrayResource(copy.getBytes(StandardCharsets.UTF_8)))
			.execute(database.direct());
		JdbcSessionStore store = new JdbcSessionStore(database.direct(), OPTIONS, "my_");
		store.verifySchema();
		store.add(KEY, JdbcTransactionContract.messages("text"));
		assertThat(database.sql().queryForObject("select count(*) from my_TURN", Integer.class)).isEqualTo(1);
	}

	/** A schema is a database of its own on MariaDB; SQLite has none. */
	@ParameterizedTest
	@EnumSource(names = { "H2", "POSTGRES", "HSQLDB" })
	void copyOfTheScriptServesAnotherPrefixAndSchema(Kind kind) {
		TestDatabase database = kind.database();
		database.sql().execute("create schema app");
		String copy = text(kind.script()).replace("index if not exists SESSIONKIT_", "index if not exists my_")
			.replace("SESSIONKIT_", "app.my_");
		new ResourceDatabasePopulator(new ByteArrayResource(copy.getBytes(StandardCharsets.UTF_8)))
			.execute(database.direct());
		JdbcSessionStore store = new JdbcSessionStore(database.direct(), OPTIONS, "app.my_");
		store.verifySchema();
		store.add(KEY, JdbcTransactionContract.messages("text"));
		assertThat(database.sql().queryForObject("select count(*) from app.my_TURN", Integer.class)).isEqualTo(1);
	}

	private static String text(String script) {
		try {
			return new ClassPathResource(script).getContentAsString(StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "a b_", "a;drop", "a.b.c_", "1_", ".x_", "a'", "\"a\"", "ä_" })
	void otherPrefixesAreRefused(String prefix) {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new JdbcSessionStore(TestDatabase.h2().direct(), OPTIONS, prefix))
			.withMessageContaining("'" + prefix + "'");
	}

	@Test
	void unknownDatabaseIsRefusedByName() {
		DataSource derby = new ProductName(TestDatabase.h2().created().direct(), "Apache Derby");
		JdbcSessionStore store = new JdbcSessionStore(derby, OPTIONS);
		assertThatIllegalStateException().isThrownBy(store::verifySchema)
			.withMessageContaining("'Apache Derby'")
			.withMessageContaining(
					"PostgreSQL, H2, MariaDB, MySQL, SQLite, HSQL Database Engine, Microsoft SQL Server, Oracle");
		assertThatIllegalStateException().isThrownBy(() -> store.find(KEY));
	}

	@Test
	void databaseThatCannotBeReachedIsReportedWhenItIsUsed() {
		JdbcSessionStore store = new JdbcSessionStore(new Unreachable(), OPTIONS);
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> store.find(KEY));
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(store::verifySchema);
		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> store.add(KEY, JdbcTransactionContract.messages("secret")))
			.withMessageNotContaining("secret");
	}

	@Test
	void valuesDoNotReachExceptions() {
		TestDatabase database = TestDatabase.h2().created();
		database.sql().execute("alter table SESSIONKIT_TURN alter column body varchar(10)");
		JdbcSessionStore store = new JdbcSessionStore(database.direct(), OPTIONS);
		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> store.add(KEY, JdbcTransactionContract.messages("a secret that is too long")))
			.satisfies((ex) -> {
				for (Throwable each = ex; each != null; each = each.getCause()) {
					assertThat(each.toString()).doesNotContain("secret");
				}
			});
		assertThat(store.find(KEY)).isEmpty();
	}

	@Test
	void itemsThatAreNotAsTheyWereWrittenAreReportedWithTheirSession() {
		TestDatabase database = TestDatabase.h2().created();
		JdbcSessionStore store = new JdbcSessionStore(database.direct(), OPTIONS);
		for (String broken : List.of("0 1", "0 1 2 99999\n{}", "x 1 2 2\n{}", "0 1 2 -2\n{}")) {
			store.erase(KEY);
			store.add(KEY, JdbcTransactionContract.messages("text"));
			database.sql().update("update SESSIONKIT_TURN set body = ?", broken);
			database.sql().update("update SESSIONKIT_SESSION set stamp = stamp + 1");
			List<ThrowingCallable> reads = List.of(() -> store.open(KEY, Window.ALL), () -> store.messages(KEY),
					() -> store.items(KEY, 1), () -> store.turn(KEY, 1, Set.of()), () -> store.pop(KEY));
			for (ThrowingCallable read : reads) {
				assertThatExceptionOfType(UnreadablePayloadException.class).isThrownBy(read)
					.withMessageContaining(KEY.toString())
					.withMessageContaining("turn 1");
			}
		}
	}

	@Test
	void constructorDoesNotConnect() {
		assertThatCode(() -> new JdbcSessionStore(new Unreachable(), OPTIONS)).doesNotThrowAnyException();
	}

	private static final class Unreachable extends AbstractDataSource {

		@Override
		public Connection getConnection() throws SQLException {
			throw new SQLException("no route to host", "08001");
		}

		@Override
		public Connection getConnection(String username, String password) throws SQLException {
			return getConnection();
		}

	}

}
