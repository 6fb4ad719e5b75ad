package io.sessionkit.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.utility.DockerImageName;
import redis.embedded.Redis;
import redis.embedded.RedisServer;
import redis.embedded.RedisShardedCluster;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The Redis servers of the tests, plain and without modules: one alone (a container where
 * a Docker engine answers, otherwise a real server from a jar), and a Cluster of three
 * from the jar. Each is started on first use and stopped with the JVM; each test class
 * takes a key prefix of its own.
 */
public final class RedisServers {

	private static final int MOST_STARTS = 20;

	private static final String IMAGE = "redis:7-alpine";

	private static final int PORT = 6379;

	/** A node of a Cluster also listens at a port so much higher. */
	private static final int BUS = 10_000;

	private static final int LOWEST_PORT = 20_000;

	/** On Linux; other systems begin higher. */
	private static final int LOWEST_OUTGOING = 32_768;

	private static final int SLOTS = 16_384;

	private static @Nullable RedisServers alone;

	private static @Nullable RedisServers cluster;

	private final String name;

	private final RedisConfiguration configuration;

	private final String host;

	private final int port;

	private RedisServers(String name, RedisConfiguration configuration, String host, int port) {
		this.name = name;
		this.configuration = configuration;
		this.host = host;
		this.port = port;
	}

	/**
	 * One server, started if it is not running yet. Prints which one it is.
	 * @return the server
	 */
	public static synchronized RedisServers alone() {
		if (alone == null) {
			alone = DockerClientFactory.instance().isDockerAvailable() ? container() : embedded();
			System.out.println("Redis of the tests: " + alone);
		}
		return alone;
	}

	/**
	 * A Cluster of three servers, started if it is not running yet. Prints which one it
	 * is.
	 * @return the Cluster
	 */
	public static synchronized RedisServers cluster() {
		if (cluster == null) {
			cluster = embeddedCluster();
			System.out.println("Redis Cluster of the tests: " + cluster);
		}
		return cluster;
	}

	/**
	 * A server that looks like one alone to its clients, and refuses scripts with keys of
	 * several hash slots: a Cluster of one, as behind some proxies. A new one each time.
	 * @return the server
	 */
	public static RedisServers behindProxy() {
		try {
			int port = freePort();
			Path folder = Files.createTempDirectory("redis");
			start(RedisServer.newRedisServer()
				.bind("127.0.0.1")
				.port(port)
				.setting("save \"\"")
				.setting("dir " + folder)
				.setting("cluster-enabled yes")
				.build());
			takeAllSlots(port);
			awaitJoined(port);
			return standalone("embedded Cluster of one", "127.0.0.1", port);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * One server that appends what is written to a file. A new one each time.
	 * @return the server
	 */
	public static RedisServers appending() {
		try {
			int port = freePort();
			start(RedisServer.newRedisServer()
				.bind("127.0.0.1")
				.port(port)
				.setting("save \"\"")
				.setting("dir " + Files.createTempDirectory("redis"))
				.setting("appendonly yes")
				.setting("appendfsync no")
				.build());
			return standalone("embedded server with an append-only file", "127.0.0.1", port);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * A Cluster of three servers, each of which its clients reach by way of a proxy only.
	 * A new one each time.
	 * @param cut cuts the connections of all three
	 * @return the Cluster
	 */
	public static RedisServers clusterBehindProxies(AnswerCut cut) {
		try {
			List<Integer> ports = List.of(freePort(), freePort(), freePort());
			List<RedisNode> nodes = new ArrayList<>();
			for (int port : ports) {
				nodes.add(new RedisNode("127.0.0.1", startBehindProxy(port, cut)));
			}
			for (int i = 0; i < ports.size(); i++) {
				takeSlots(ports.get(i), SLOTS * i / ports.size(), SLOTS * (i + 1) / ports.size());
				cluster(ports.get(i), "MEET", "127.0.0.1", ports.get(0).toString());
			}
			ports.forEach(RedisServers::awaitJoined);
			RedisClusterConfiguration configuration = new RedisClusterConfiguration();
			configuration.setClusterNodes(nodes);
			return new RedisServers("embedded Cluster of three behind proxies", configuration, "127.0.0.1",
					ports.get(0));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static int startBehindProxy(int port, AnswerCut cut) throws IOException {
		TcpProxy proxy = new TcpProxy("127.0.0.1", port, cut);
		start(RedisServer.newRedisServer()
			.bind("127.0.0.1")
			.port(port)
			.setting("save \"\"")
			.setting("dir " + Files.createTempDirectory("redis"))
			.setting("cluster-enabled yes")
			.setting("cluster-announce-port " + proxy.port())
			.build());
		return proxy.port();
	}

	private static void takeAllSlots(int port) {
		takeSlots(port, 0, SLOTS);
	}

	private static void takeSlots(int port, int from, int to) {
		String[] arguments = new String[1 + to - from];
		arguments[0] = "ADDSLOTS";
		for (int slot = from; slot < to; slot++) {
			arguments[1 + slot - from] = String.valueOf(slot);
		}
		cluster(port, arguments);
	}

	private static void cluster(int port, String... arguments) {
		LettuceConnectionFactory connections = lettuce(new RedisStandaloneConfiguration("127.0.0.1", port));
		try (RedisConnection connection = connections.getConnection()) {
			connection.execute("CLUSTER",
					Stream.of(arguments)
						.map((argument) -> argument.getBytes(StandardCharsets.UTF_8))
						.toArray(byte[][]::new));
		}
		finally {
			connections.destroy();
		}
	}

	private static RedisServers container() {
		GenericContainer<?> container = new GenericContainer<>(DockerImageName.parse(IMAGE)).withExposedPorts(PORT);
		container.start();
		Runtime.getRuntime().addShutdownHook(new Thread(container::stop));
		return standalone("container " + IMAGE, container.getHost(), container.getMappedPort(PORT));
	}

	private static RedisServers embedded() {
		try {
			int port = freePort();
			start(RedisServer.newRedisServer().bind("127.0.0.1").port(port).setting("save \"\"").build());
			return standalone("embedded server", "127.0.0.1", port);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static RedisServers standalone(String name, String host, int port) {
		return new RedisServers(name, new RedisStandaloneConfiguration(host, port), host, port);
	}

	private static RedisServers embeddedCluster() {
		try {
			List<Integer> ports = List.of(freePort(), freePort(), freePort());
			start(RedisShardedCluster.newRedisCluster()
				.withServerBuilder(RedisServer.newRedisServer().bind("127.0.0.1").setting("save \"\""))
				.serverPorts(ports)
				.shard("one", 0)
				.shard("two", 0)
				.shard("three", 0)
				.initializationTimeout(Duration.ofSeconds(30))
				.build());
			List<RedisNode> nodes = new ArrayList<>();
			ports.forEach((port) -> {
				awaitJoined(port);
				nodes.add(new RedisNode("127.0.0.1", port));
			});
			RedisClusterConfiguration configuration = new RedisClusterConfiguration();
			configuration.setClusterNodes(nodes);
			return new RedisServers("embedded Cluster of three", configuration, "127.0.0.1", ports.get(0));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** A node that was started just now refuses its keys for a moment. */
	private static void awaitJoined(int port) {
		LettuceConnectionFactory connections = lettuce(new RedisStandaloneConfiguration("127.0.0.1", port));
		try (RedisConnection connection = connections.getConnection()) {
			Awaitility.await()
				.atMost(Duration.ofSeconds(30))
				.until(() -> text(connection.execute("CLUSTER", "INFO".getBytes(StandardCharsets.UTF_8)))
					.contains("cluster_state:ok"));
		}
		finally {
			connections.destroy();
		}
	}

	private static String text(@Nullable Object reply) {
		return (reply instanceof byte[] bytes) ? new String(bytes, StandardCharsets.UTF_8) : String.valueOf(reply);
	}

	private static void start(Redis server) throws IOException {
		for (int attempt = 1; !isStarted(server, attempt); attempt++) {
			server.stop();
			LockSupport.parkNanos(Duration.ofMillis(200).toNanos());
		}
		Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(server)));
	}

	/**
	 * The program was written just now. A process that another thread has begun to start
	 * meanwhile has the file open for a moment, and it cannot be run.
	 */
	private static boolean isStarted(Redis server, int attempt) throws IOException {
		try {
			server.start();
			return true;
		}
		catch (IOException ex) {
			if (attempt < MOST_STARTS && String.valueOf(ex.getCause()).contains("Text file busy")) {
				return false;
			}
			throw ex;
		}
	}

	private static void stop(Redis server) {
		try {
			server.stop();
		}
		catch (IOException ex) {
			// the JVM ends anyway
		}
	}

	/**
	 * Returns a port that is free, also for the bus of a Cluster. Both are below those
	 * that systems give to outgoing connections, one of which might take it meanwhile.
	 */
	private static int freePort() {
		while (true) {
			int port = ThreadLocalRandom.current().nextInt(LOWEST_PORT, LOWEST_OUTGOING - BUS);
			if (isFree(port) && isFree(port + BUS)) {
				return port;
			}
		}
	}

	private static boolean isFree(int port) {
		try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
			return socket.isBound();
		}
		catch (IOException ex) {
			return false;
		}
	}

	/**
	 * Connections by Lettuce, started.
	 * @return the factory; whoever asks for it destroys it
	 */
	public LettuceConnectionFactory connections() {
		return lettuce(this.configuration);
	}

	/**
	 * Connections by Lettuce to one server, by way of another port, behind which a proxy
	 * is.
	 * @param proxyPort where the proxy listens on the loopback address
	 * @return the factory; whoever asks for it destroys it
	 */
	public LettuceConnectionFactory connectionsBy(int proxyPort) {
		return lettuce(new RedisStandaloneConfiguration("127.0.0.1", proxyPort));
	}

	private static LettuceConnectionFactory lettuce(RedisConfiguration configuration) {
		LettuceConnectionFactory connections = new LettuceConnectionFactory(configuration,
				LettuceClientConfiguration.builder()
					.commandTimeout(Duration.ofSeconds(20))
					.shutdownTimeout(Duration.ZERO)
					.build());
		connections.start();
		return connections;
	}

	/**
	 * Returns the configuration with which the server or Cluster is reached.
	 * @return the configuration
	 */
	public RedisConfiguration configuration() {
		return this.configuration;
	}

	/**
	 * Returns the host of the server, or of the first one of the Cluster.
	 * @return the host
	 */
	public String host() {
		return this.host;
	}

	/**
	 * Returns the port of the server, or of the first one of the Cluster.
	 * @return the port
	 */
	public int port() {
		return this.port;
	}

	/**
	 * Returns the kind of the server, and its version.
	 */
	@Override
	public String toString() {
		LettuceConnectionFactory connections = lettuce(new RedisStandaloneConfiguration(this.host, this.port));
		try (RedisConnection connection = connections.getConnection()) {
			Properties info = connection.serverCommands().info("server");
			return "Redis " + ((info != null) ? info.getProperty("redis_version") : "?") + " (" + this.name + ")";
		}
		finally {
			connections.destroy();
		}
	}

}
