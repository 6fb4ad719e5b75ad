package io.sessionkit.store.jdbc;

import java.util.List;
import java.util.Locale;

import io.sessionkit.SessionKey;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.Page;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import io.sessionkit.test.PostgresServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Databases that are set up in an unusual way: each either works or is refused before
 * anything is written.
 */
class DatabaseSettingsTests {

	private static final String EMOJI = "\uD83D\uDE00";

	private final SessionKey key = SessionKey.of("owner", "t1");

	@ParameterizedTest
	@ValueSource(strings = { "REGULAR", "STRICT", "LEGACY", "DB2", "MariaDB", "HSQLDB", "MySQL", "PostgreSQL",
			"REGULAR;DATABASE_TO_UPPER=FALSE", "PostgreSQL;DATABASE_TO_LOWER=TRUE", "REGULAR;IGNORECASE=TRUE",
			"MySQL;IGNORECASE=TRUE", "REGULAR;COLLATION=GERMAN STRENGTH TERTIARY" })
	void h2WorksInThisMode(String mode) {
		SessionStore store = JdbcTransactionContract.storeOn(TestDatabase.h2InMode(mode).created().direct());
		assertThatItWorks(store);
	}

	@ParameterizedTest
	@ValueSource(strings = { "Oracle", "MSSQLServer", "Derby", "Oracle;DATABASE_TO_UPPER=FALSE",
			"MSSQLServer;DATABASE_TO_LOWER=TRUE" })
	void h2IsRefusedInThisMode(String mode) {
		SessionStore store = JdbcTransactionContract.storeOn(TestDatabase.h2InMode(mode).direct());
		assertThatIllegalStateException().isThrownBy(() -> store.find(this.key))
			.withMessageContaining("MODE=" + mode.split(";")[0])
			.withMessageContaining("MODE=PostgreSQL");
	}

	@ParameterizedTest
	@ValueSource(strings = { "GERMAN STRENGTH PRIMARY", "ENGLISH STRENGTH SECONDARY" })
	void h2ThatTakesTextsOfOtherCaseForTheSameIsRefused(String collation) {
		SessionStore store = JdbcTransactionContract
			.storeOn(TestDatabase.h2InMode("REGULAR;COLLATION=" + collation).direct());
		assertThatIllegalStateException().isThrownBy(() -> store.find(this.key))
			.withMessageContaining("collation " + collation)
			.withMessageContaining("STRENGTH TERTIARY");
	}

	@Test
	void hsqldbThatTakesTextsOfOtherCaseForTheSameIsRefused() {
		SessionStore store = JdbcTransactionContract.storeOn(TestDatabase.hsqldb("mvcc;sql.ignore_case=true").direct());
		assertThatIllegalStateException().isThrownBy(() -> store.find(this.key))
			.withMessageContaining("sql.ignore_case=true");
	}

	@Test
	void oracleThatCannotStoreAllCharactersIsRefused() {
		TestDatabase database = TestDatabase.h2AsOracle();
		SessionStore store = JdbcTransactionContract.storeOn(database.direct());
		database.sql().update("update nls_database_parameters set value = 'WE8MSWIN1252'");
		assertThatIllegalStateException().isThrownBy(() -> store.find(this.key))
			.withMessageContaining("WE8MSWIN1252")
			.withMessageContaining("AL32UTF8");
	}

	@Test
	void sqlServerWhoseReadersWaitForWritersIsRefused() {
		TestDatabase database = TestDatabase.h2AsSqlServer();
		database.sql().update("update sys.databases set is_read_committed_snapshot_on = false");
		SessionStore store = JdbcTransactionContract.storeOn(database.direct());
		assertThatIllegalStateException().isThrownBy(() -> store.find(this.key))
			.withMessageContaining("READ_COMMITTED_SNAPSHOT")
			.withMessageContaining("alter database");
	}

	/** SQL_ASCII keeps all characters, but counts bytes: names would be too long. */
	@ParameterizedTest
	@ValueSource(strings = { "LATIN1", "SQL_ASCII" })
	void postgresThatCannotStoreAllTextsIsRefused(String encoding) {
		SessionStore store = postgres(encoding);
		assertThatIllegalStateException().isThrownBy(() -> store.find(this.key))
			.withMessageContaining(encoding)
			.withMessageContaining("UTF8");
	}

	@Test
	void postgresInUtf8TakesTheLongestNames() {
		assertThatItWorks(postgres("UTF8"), SessionKey.of("\u4e2d".repeat(255), "\u4e2d".repeat(255)));
	}

	private static SessionStore postgres(String encoding) {
		String database = "encoded_" + encoding.toLowerCase(Locale.ROOT);
		PostgresServer server = PostgresServer.running();
		new JdbcTemplate(server.dataSource("postgres")).execute("create database " + database + " encoding '" + encoding
				+ "' lc_collate 'C' lc_ctype 'C' template template0");
		TestDatabase.runScript("postgresql", server.dataSource(database));
		return JdbcTransactionContract.storeOn(server.dataSource(database));
	}

	private void assertThatItWorks(SessionStore store) {
		assertThatItWorks(store, this.key);
	}

	private static void assertThatItWorks(SessionStore store, SessionKey key) {
		for (int i = 1; i <= 3; i++) {
			store.add(key, List.of(new UserMessage("q" + i), new AssistantMessage(EMOJI)));
		}
		assertThat(store.put(key, RecordWrite.create("note", "idea", EMOJI))).isTrue();
		assertThat(store.put(key, RecordWrite.create("note", "Idea", EMOJI))).isTrue();
		Conversations.of(store).get(key).undo(1);
		assertThat(store.messages(key)).extracting(Message::getText).containsExactly("q1", EMOJI, "q2", EMOJI);
		assertThat(store.items(key, new Tail(3, 1))).hasSize(1);
		assertThat(store.turns(key, Tail.newest(2))).hasSize(2);
		assertThat(store.list(key.owner(), Page.first(5))).hasSize(1);
		assertThat(store.records(key.owner(), "note", Page.first(5))).hasSize(2);
		assertThat(store.deleteExpired(5)).isZero();
	}

}
