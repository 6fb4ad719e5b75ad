package io.sessionkit.samples.chat;

import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import io.sessionkit.samples.chat.RunningChat.Event;
import io.sessionkit.test.PostgresServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

@ExtendWith(OutputCaptureExtension.class)
class PostgresProfileTests {

	@TempDir
	private Path folder;

	@Test
	void remembersAcrossARestart() throws Exception {
		PostgresServer server = PostgresServer.running();
		String url = "jdbc:postgresql://" + server.host() + ":" + server.port() + "/" + server.newDatabase();
		try (RunningChat chat = start(url)) {
			chat.ask("t1", "My name is Ada");
			assertThat(chat.get("/api/about").path("store").asString()).isEqualTo("PostgreSQL");
		}
		try (RunningChat chat = start(url)) {
			assertThat(chat.reply("t1", "What is my name?")).contains("Ada");
			assertThat(chat.thread("t1").path("turns").values()).hasSize(2);
		}
		assertThat(this.folder).isEmptyDirectory();
	}

	/** The page need not know which of two instances it talks to. */
	@Test
	void anAnswerIsReadAndStoppedByTwoInstances() throws Exception {
		PostgresServer server = PostgresServer.running();
		String url = "jdbc:postgresql://" + server.host() + ":" + server.port() + "/" + server.newDatabase();
		try (RunningChat one = start(url); RunningChat other = start(url)) {
			one.ask("t1", "Hello");
			one.hold();
			try (InputStream first = one.openAs("r1", "t1", "Tell me a story")) {
				assertThat(first.read()).isPositive();
				try (InputStream again = other.openAs("r1", "t1", "Tell me a story")) {
					assertThat(again.read()).isPositive();
					one.release();
					List<Event> events = RunningChat.events(again);
					assertThat(RunningChat.text(events)).startsWith("There was once").endsWith("tore out half a page.");
					assertThat(events.get(events.size() - 1).data().path("number").asLong()).isEqualTo(2);
				}
			}
			one.hold();
			try (InputStream first = one.openAs("r2", "t1", "Tell me a story")) {
				assertThat(first.read()).isPositive();
				assertThat(other.send("DELETE", "/api/threads/t1/requests/r2", null).statusCode()).isEqualTo(204);
				assertThat(RunningChat.text(RunningChat.events(first))).startsWith("There was once")
					.doesNotContain("tore out half a page.");
			}
			finally {
				one.release();
			}
			assertThat(other.thread("t1").path("turns").values()).hasSize(3);
		}
	}

	@Test
	void saysWhatToDoWhereNoServerAnswers(CapturedOutput output) {
		assertThatException().isThrownBy(() -> start("jdbc:postgresql://127.0.0.1:1/none",
				"--spring.datasource.hikari.connection-timeout=2000"));
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("gave no connection")
			.contains("Start the database, or correct 'spring.datasource.url'");
	}

	private RunningChat start(String url, String... more) {
		PostgresServer server = PostgresServer.running();
		List<String> arguments = new ArrayList<>(List.of("--spring.profiles.active=postgres",
				"--CHAT_POSTGRES_URL=" + url, "--CHAT_POSTGRES_USER=" + server.user(),
				"--CHAT_POSTGRES_PASSWORD=" + server.password(), "--demo.pace=1ms"));
		arguments.addAll(List.of(more));
		return RunningChat.start(this.folder, arguments.toArray(String[]::new));
	}

}
