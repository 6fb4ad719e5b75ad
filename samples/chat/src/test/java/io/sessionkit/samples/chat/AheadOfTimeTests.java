package io.sessionkit.samples.chat;

import java.io.IOException;
import java.nio.file.Path;

import io.sessionkit.test.PostgresServer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The application processed ahead of time for a database, and run in a process of its
 * own.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Order(1)
class AheadOfTimeTests {

	private ProcessedApplication jdbc;

	@TempDir
	private Path folder;

	@BeforeAll
	void process(@TempDir Path processed) throws IOException {
		this.jdbc = ProcessedApplication.of(processed);
	}

	@Test
	void chatsInH2() throws Exception {
		String data = "--CHAT_DATA=" + this.folder.toAbsolutePath();
		try (ChatProcess chat = start(this.jdbc, data)) {
			assertThatItAnswersFromTheThread(chat, "H2");
		}
	}

	@Test
	void chatsInPostgres() throws Exception {
		PostgresServer server = PostgresServer.running();
		PGSimpleDataSource database = (PGSimpleDataSource) server.dataSource(server.newDatabase());
		try (ChatProcess chat = start(this.jdbc, "--spring.profiles.active=postgres",
				"--CHAT_POSTGRES_URL=" + database.getUrl(), "--CHAT_POSTGRES_USER=" + database.getUser(),
				"--CHAT_POSTGRES_PASSWORD=" + database.getPassword())) {
			assertThatItAnswersFromTheThread(chat, "PostgreSQL");
		}
	}

	@Test
	void anotherStoreThanTheOneItWasProcessedForIsRefused() throws Exception {
		try (ChatProcess chat = start(this.jdbc, "--sessionkit.store.type=memory",
				"--CHAT_DATA=" + this.folder.toAbsolutePath())) {
			assertThat(chat.awaitEnd()).contains("The property 'sessionkit.store.type' is 'memory'.")
				.contains("processed ahead of time for 'jdbc'");
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "approval.continuations.enabled=true", "approval.notices.enabled=true",
			"purge.enabled=false", "titles.by=first-words" })
	void switchThatIsNotAsItWasProcessedIsRefused(String property) throws Exception {
		try (ChatProcess chat = start(this.jdbc, "--sessionkit." + property,
				"--CHAT_DATA=" + this.folder.toAbsolutePath())) {
			assertThat(chat.awaitEnd()).contains("The property 'sessionkit." + property.replace("=", "' is '") + "'.")
				.contains("processed ahead of time with another value");
		}
	}

	private ChatProcess start(ProcessedApplication application, String... arguments) throws IOException {
		return application.start(this.folder.resolve("output.txt"), arguments);
	}

	static void assertThatItAnswersFromTheThread(ChatProcess chat, String store) throws Exception {
		chat.awaitUp();
		assertThat(chat.output()).contains("Starting AOT-processed ChatApplication");
		assertThat(chat.get("/api/about")).contains("\"store\":\"" + store + "\"");
		assertThat(chat.ask("t1", "My name is Ada")).contains("COMPLETED");
		assertThat(chat.ask("t1", "Roll a die")).contains("COMPLETED").contains("roll_die");
		assertThat(chat.ask("t1", "What is my name?")).contains("Ada");
		assertThat(chat.get("/api/threads/t1")).contains("\"number\":3").contains("What is my name?");
	}

}
