package io.sessionkit.store.redis;

import java.io.IOException;
import java.util.Properties;
import java.util.Set;
import java.util.UUID;

import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.MoveCosts;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.test.RedisServers;
import io.sessionkit.test.TcpProxy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.parallel.Isolated;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Round trips on the wire, and commands that write, counted by the server.
 */
@Isolated
class RedisMoveCostTests extends MoveCosts {

	private static final RedisServers SERVER = RedisServers.alone();

	private static final Set<String> WRITES = Set.of("set", "hset", "hdel", "lpush", "lset", "lpop", "del", "unlink",
			"zadd", "zrem", "pexpireat", "persist");

	private TcpProxy proxy;

	private LettuceConnectionFactory connections;

	private SessionStore store;

	@BeforeEach
	void start() throws IOException {
		this.proxy = new TcpProxy(SERVER.host(), SERVER.port());
		this.connections = SERVER.connectionsBy(this.proxy.port());
		this.store = new RedisSessionStore(this.connections, StoreOptions.of(JsonMessageCodec.create()),
				"moves-" + UUID.randomUUID() + ":");
	}

	@AfterEach
	void stop() throws IOException {
		this.connections.destroy();
		this.proxy.close();
	}

	@Override
	protected SessionStore store() {
		return this.store;
	}

	@Override
	protected long roundTrips() {
		return this.proxy.roundTrips();
	}

	@Override
	protected long writes() {
		LettuceConnectionFactory direct = SERVER.connectionsBy(SERVER.port());
		try (RedisConnection connection = direct.getConnection()) {
			Properties stats = connection.serverCommands().info("commandstats");
			long writes = 0;
			for (String name : stats.stringPropertyNames()) {
				if (WRITES.contains(name.substring(name.indexOf('_') + 1))) {
					writes += Long.parseLong(stats.getProperty(name).replaceAll("calls=(\\d+),.*", "$1"));
				}
			}
			return writes;
		}
		finally {
			direct.destroy();
		}
	}

}
