package io.sessionkit.samples.chat;

import java.io.IOException;
import java.nio.file.Path;

import io.sessionkit.test.RedisServers;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The application processed ahead of time for other stores than a database, and run in a
 * process of its own.
 */
@Order(2)
class AheadOfTimeStoresTests {

	@TempDir
	private Path folder;

	@Test
	void chatsInMemory(@TempDir Path processed) throws Exception {
		ProcessedApplication memory = ProcessedApplication.of(processed, "--sessionkit.store.type=memory");
		try (ChatProcess chat = start(memory, "--sessionkit.store.type=memory")) {
			AheadOfTimeTests.assertThatItAnswersFromTheThread(chat, "memory");
		}
	}

	@Test
	void chatsInRedis(@TempDir Path processed) throws Exception {
		ProcessedApplication redis = ProcessedApplication.of(processed, "--spring.profiles.active=redis");
		try (ChatProcess chat = start(redis, "--spring.profiles.active=redis",
				"--CHAT_REDIS_HOST=" + RedisServers.alone().host(), "--CHAT_REDIS_PORT=" + RedisServers.alone().port(),
				"--sessionkit.store.redis.key-prefix=ahead-of-time:")) {
			AheadOfTimeTests.assertThatItAnswersFromTheThread(chat, "Redis");
		}
	}

	private ChatProcess start(ProcessedApplication application, String... arguments) throws IOException {
		return application.start(this.folder.resolve("output.txt"), arguments);
	}

}
