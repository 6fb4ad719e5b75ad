package io.sessionkit.samples.chat;

import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

class RestartTests {

	@TempDir
	private Path folder;

	@Test
	void remembersAcrossARestart() throws Exception {
		try (RunningChat chat = start()) {
			chat.ask("t1", "My name is Ada");
			chat.ask("t1", "Roll a die");
		}
		try (RunningChat chat = start()) {
			JsonNode threads = chat.get("/api/threads").path("threads");
			assertThat(threads.values()).extracting((thread) -> thread.path("id").asString()).containsExactly("t1");
			assertThat(threads.path(0).path("turns").asInt()).isEqualTo(2);
			assertThat(chat.reply("t1", "What is my name?")).contains("Ada");
			assertThat(chat.thread("t1").path("turns").values()).hasSize(3);
		}
	}

	private RunningChat start() {
		return RunningChat.start(this.folder, "--demo.pace=1ms");
	}

}
