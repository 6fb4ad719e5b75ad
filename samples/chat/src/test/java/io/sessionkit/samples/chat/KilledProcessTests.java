package io.sessionkit.samples.chat;

import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The application in a process of its own, killed as soon as the reply is there.
 */
class KilledProcessTests {

	@TempDir
	private Path folder;

	@Test
	void whatWasAnsweredSurvivesAKilledProcess() throws Exception {
		try (ChatProcess chat = ChatProcess.start(this.folder.resolve("output.txt"),
				"--CHAT_DATA=" + this.folder.toAbsolutePath(), "--demo.pace=1ms")) {
			assertThat(chat.awaitUp().ask("t1", "My name is Ada")).contains("COMPLETED");
		}
		try (RunningChat chat = RunningChat.start(this.folder, "--demo.pace=1ms")) {
			assertThat(chat.reply("t1", "What is my name?")).contains("Ada");
		}
	}

}
