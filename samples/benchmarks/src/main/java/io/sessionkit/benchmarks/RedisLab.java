package io.sessionkit.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import redis.embedded.RedisServer;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.ReturnType;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.Cursor;
import org.springframework.data.redis.core.ScanOptions;

/**
 * A Redis server of its own on the loopback interface, with an append-only file that is
 * flushed every second: the setting that keeps sessions across a restart.
 */
final class RedisLab implements AutoCloseable {

	private static final byte[] SIZE = "return redis.call('MEMORY', 'USAGE', KEYS[1], 'SAMPLES', 0)"
		.getBytes(StandardCharsets.UTF_8);

	private static final Pattern CALLS_AND_MICROS = Pattern.compile("^calls=(\\d+),usec=(\\d+),");

	private static final String HOST = "127.0.0.1";

	private final RedisServer server;

	private final int port;

	/** Connections on which it asks the server about itself. */
	private final LettuceConnectionFactory own;

	private RedisLab(RedisServer server, int port) {
		this.server = server;
		this.port = port;
		this.own = connections(port);
	}

	/**
	 * Starts the server.
	 */
	static RedisLab start() {
		try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			int port = free.getLocalPort();
			free.close();
			Path folder = Files.createTempDirectory("redis-lab");
			RedisServer server = RedisServer.newRedisServer()
				.bind(HOST)
				.port(port)
				.setting("dir " + folder)
				.setting("save \"\"")
				.setting("appendonly yes")
				.setting("appendfsync everysec")
				.build();
			server.start();
			return new RedisLab(server, port);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	String host() {
		return HOST;
	}

	int port() {
		return this.port;
	}

	LettuceConnectionFactory connections() {
		return connections(this.port);
	}

	/**
	 * Returns connections through a proxy.
	 * @param proxyPort the port on which the proxy listens
	 */
	static LettuceConnectionFactory connections(int proxyPort) {
		LettuceConnectionFactory connections = new LettuceConnectionFactory(
				new RedisStandaloneConfiguration(HOST, proxyPort),
				LettuceClientConfiguration.builder().shutdownTimeout(Duration.ZERO).build());
		connections.start();
		return connections;
	}

	/**
	 * Returns the memory that all keys take in the server, each of them examined
	 * completely.
	 */
	double storedBytes() {
		try (RedisConnection connection = this.own.getConnection();
				Cursor<byte[]> keys = connection.keyCommands().scan(ScanOptions.NONE)) {
			double bytes = 0;
			while (keys.hasNext()) {
				Long used = connection.scriptingCommands().eval(SIZE, ReturnType.INTEGER, 1, keys.next());
				bytes += Objects.requireNonNull(used);
			}
			return bytes;
		}
	}

	/**
	 * Returns how many bytes were appended to the append-only file so far, those included
	 * that wait to be written to it.
	 */
	double logBytes() {
		Properties persistence = info("persistence");
		return Double.parseDouble(persistence.getProperty("aof_current_size"))
				+ Double.parseDouble(persistence.getProperty("aof_buffer_length"));
	}

	/**
	 * The scripts that clients have called.
	 *
	 * @param calls how often they were called
	 * @param micros the time that they took in the server, in microseconds
	 */
	record Scripts(long calls, long micros) {
	}

	Scripts scripts() {
		Properties commands = info("commandstats");
		long calls = 0;
		long micros = 0;
		for (String command : List.of("eval", "evalsha")) {
			Matcher statistics = CALLS_AND_MICROS.matcher(commands.getProperty("cmdstat_" + command, ""));
			if (statistics.find()) {
				calls += Long.parseLong(statistics.group(1));
				micros += Long.parseLong(statistics.group(2));
			}
		}
		return new Scripts(calls, micros);
	}

	private Properties info(String section) {
		try (RedisConnection connection = this.own.getConnection()) {
			return Objects.requireNonNull(connection.serverCommands().info(section));
		}
	}

	/**
	 * Returns the version and the settings that decide what a write waits for.
	 */
	@Override
	public String toString() {
		return "Redis " + info("server").getProperty("redis_version")
				+ " on loopback, appendonly=yes, appendfsync=everysec";
	}

	@Override
	public void close() {
		this.own.destroy();
		try {
			this.server.stop();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
