package io.sessionkit.samples.chat;

import java.nio.file.Path;

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

	@Test
	void saysWhatToDoWhereNoServerAnswers(CapturedOutput output) {
		assertThatException().isThrownBy(() -> start("jdbc:postgresql://127.0.0.1:1/none"));
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("gave no connection")
			.contains("Start the database, or correct 'spring.datasource.url'");
	}

	private RunningChat start(String url) {
		PostgresServer server = PostgresServer.running();
		return RunningChat.start(this.folder, "--spring.profiles.active=postgres", "--CHAT_POSTGRES_URL=" + url,
				"--CHAT_POSTGRES_USER=" + server.user(), "--CHAT_POSTGRES_PASSWORD=" + server.password(),
				"--spring.datasource.hikari.connection-timeout=2000", "--demo.pace=1ms");
	}

}
