package io.sessionkit.store.redis;

import ch.qos.logback.classic.Level;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.test.CapturedLog;
import io.sessionkit.test.RedisServers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

@Isolated
class EvictionLogTests {

	private static final String LIMIT = "1000000000";

	@RegisterExtension
	private final CapturedLog log = CapturedLog.of(RedisSessionStore.class);

	/** On a server of its own. */
	@Test
	void serverThatDeletesKeysIsWarnedOf() {
		LettuceConnectionFactory own = RedisServers.appending().connections();
		try (RedisConnection server = own.getConnection()) {
			RedisSessionStore store = new RedisSessionStore(own, StoreOptions.of(JsonMessageCodec.create()));
			store.verifyServer();
			assertThat(this.log.events()).isEmpty();
			server.serverCommands().setConfig("maxmemory-policy", "allkeys-lru");
			store.verifyServer();
			assertThat(this.log.events()).as("a server without a limit is never full").isEmpty();
			server.serverCommands().setConfig("maxmemory", LIMIT);
			store.verifyServer();
		}
		finally {
			own.destroy();
		}
		assertThatOneWarningNames("allkeys-lru");
	}

	@Test
	void oneServerOfAClusterThatDeletesKeysIsWarnedOf() {
		RedisServers servers = RedisServers.cluster();
		LettuceConnectionFactory cluster = servers.connections();
		try {
			setPolicy(servers, "volatile-ttl", LIMIT);
			new RedisSessionStore(cluster, StoreOptions.of(JsonMessageCodec.create())).verifyServer();
		}
		finally {
			setPolicy(servers, "noeviction", "0");
			cluster.destroy();
		}
		assertThatOneWarningNames("volatile-ttl");
	}

	private static void setPolicy(RedisServers servers, String policy, String limit) {
		LettuceConnectionFactory first = servers.connectionsBy(servers.port());
		try (RedisConnection server = first.getConnection()) {
			server.serverCommands().setConfig("maxmemory-policy", policy);
			server.serverCommands().setConfig("maxmemory", limit);
		}
		finally {
			first.destroy();
		}
	}

	private void assertThatOneWarningNames(String policy) {
		assertThat(this.log.events()).singleElement().satisfies((event) -> {
			assertThat(event.getLevel()).isEqualTo(Level.WARN);
			assertThat(event.getFormattedMessage()).contains("maxmemory-policy " + policy)
				.contains("a whole session")
				.contains("noeviction");
		});
	}

}
