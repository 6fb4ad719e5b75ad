package io.sessionkit.samples.chat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;

import javax.sql.DataSource;

import io.sessionkit.test.RedisServers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.embedded.RedisServer;
import tools.jackson.databind.JsonNode;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class RedisProfileTests {

	private final String prefix = "chat-" + UUID.randomUUID() + ":";

	@TempDir
	private Path folder;

	@Test
	void remembersAcrossARestart() throws Exception {
		RedisServers redis = RedisServers.alone();
		try (RunningChat chat = start(redis.host(), redis.port())) {
			chat.ask("t1", "My name is Ada");
			chat.ask("t1", "Roll a die");
		}
		try (RunningChat chat = start(redis.host(), redis.port())) {
			JsonNode threads = chat.get("/api/threads").path("threads");
			assertThat(threads.values()).extracting((thread) -> thread.path("id").asString()).containsExactly("t1");
			assertThat(threads.path(0).path("turns").asInt()).isEqualTo(2);
			assertThat(chat.reply("t1", "What is my name?")).contains("Ada");
			assertThat(chat.thread("t1").path("turns").values()).hasSize(3);
		}
	}

	@Test
	void needsNoDatabaseAndSaysWhereTheThreadsAre() throws Exception {
		RedisServers redis = RedisServers.alone();
		try (RunningChat chat = start(redis.host(), redis.port())) {
			assertThat(chat.has(DataSource.class)).isFalse();
			assertThat(chat.get("/api/about").path("store").asString()).isEqualTo("Redis");
			assertThat(this.folder).isEmptyDirectory();
		}
	}

	@Test
	void nothingConnectsToRedisWithoutTheProfile() {
		try (RunningChat chat = RunningChat.start(this.folder)) {
			assertThat(chat.has(DataSource.class)).isTrue();
			assertThat(chat.has(RedisConnectionFactory.class)).isFalse();
		}
	}

	/**
	 * With the persistence that the README switches on.
	 */
	@Test
	void goesOnWhenRedisItselfWasStartedAgain() throws Exception {
		int port = freePort();
		RedisServer server = durable(port);
		server.start();
		try (RunningChat chat = start("127.0.0.1", port)) {
			chat.ask("t1", "My name is Ada");
			server.stop();
			assertThat(chat.send("GET", "/api/threads", null).statusCode()).isEqualTo(503);
			server = durable(port);
			server.start();
			await().atMost(Duration.ofSeconds(30))
				.until(() -> chat.send("GET", "/api/threads", null).statusCode() == 200);
			assertThat(chat.reply("t1", "What is my name?")).contains("Ada");
		}
		finally {
			server.stop();
		}
	}

	private RunningChat start(String host, int port) {
		return RunningChat.start(this.folder, "--spring.profiles.active=redis", "--CHAT_REDIS_HOST=" + host,
				"--CHAT_REDIS_PORT=" + port, "--sessionkit.store.redis.key-prefix=" + this.prefix, "--demo.pace=1ms");
	}

	private RedisServer durable(int port) throws IOException {
		return RedisServer.newRedisServer()
			.bind("127.0.0.1")
			.port(port)
			.setting("appendonly yes")
			.setting("appendfsync always")
			.setting("dir " + this.folder.toAbsolutePath())
			.build();
	}

	private static int freePort() throws IOException {
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			return socket.getLocalPort();
		}
	}

}
