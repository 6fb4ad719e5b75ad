package io.sessionkit.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisException;
import redis.embedded.RedisServer;
import redis.embedded.core.RedisServerBuilder;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import static org.awaitility.Awaitility.await;

/**
 * A Redis server that can be killed.
 */
final class RedisProcess implements Server {

	private final int port;

	private final List<String> command;

	private @Nullable Process process;

	/**
	 * @param settings lines of its configuration
	 */
	RedisProcess(String... settings) throws IOException {
		this.port = Server.freePort();
		Path directory = Files.createTempDirectory("redis-killed");
		RedisServerBuilder builder = RedisServer.newRedisServer().bind("127.0.0.1").port(this.port);
		builder.setting("dir " + directory).setting("save \"\"");
		for (String setting : settings) {
			builder.setting(setting);
		}
		this.command = builder.buildCommandArgs();
	}

	@Override
	public int port() {
		return this.port;
	}

	RedisStandaloneConfiguration configuration() {
		return new RedisStandaloneConfiguration("127.0.0.1", this.port);
	}

	@Override
	public void start() throws IOException {
		this.process = new ProcessBuilder(this.command).redirectErrorStream(true)
			.redirectOutput(ProcessBuilder.Redirect.DISCARD)
			.start();
		await().atMost(Duration.ofSeconds(30)).until(this::answers);
	}

	private boolean answers() {
		try (Jedis jedis = new Jedis("127.0.0.1", this.port)) {
			return jedis.ping().equals("PONG");
		}
		catch (JedisException ex) {
			return false;
		}
	}

	/**
	 * Keeps on the disk what there is now, for a server that keeps nothing by itself.
	 */
	void save() {
		try (Jedis jedis = new Jedis("127.0.0.1", this.port)) {
			jedis.save();
		}
	}

	/**
	 * Changes a setting while it runs.
	 */
	void set(String name, String value) {
		try (Jedis jedis = new Jedis("127.0.0.1", this.port)) {
			jedis.configSet(name, value);
		}
	}

	/**
	 * The memory that it uses.
	 */
	long usedMemory() {
		try (Jedis jedis = new Jedis("127.0.0.1", this.port)) {
			return jedis.info("memory")
				.lines()
				.filter((line) -> line.startsWith("used_memory:"))
				.mapToLong((line) -> Long.parseLong(line.substring("used_memory:".length()).strip()))
				.sum();
		}
	}

	@Override
	public void kill() {
		if (this.process != null) {
			this.process.destroyForcibly();
			Server.awaitEnd(this.process.toHandle());
		}
	}

	@Override
	public void close() {
		kill();
	}

}
