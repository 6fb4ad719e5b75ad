package io.sessionkit.store.redis;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.test.RedisServers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

@Isolated
class EvictionLogTests {

	private static final String LIMIT = "1000000000";

	private final Logger logger = (Logger) LoggerFactory.getLogger(RedisSessionStore.class);

	private final ListAppender<ILoggingEvent> log = new ListAppender<>();

	@BeforeEach
	void begin() {
		this.log.start();
		this.logger.addAppender(this.log);
	}

	@AfterEach
	void close() {
		this.logger.detachAppender(this.log);
	}

	/** On a server of its own. */
	@Test
	void serverThatDeletesKeysIsWarnedOf() {
		LettuceConnectionFactory own = RedisServers.appending().connections();
		try (RedisConnection server = own.getConnection()) {
			RedisSessionStore store = new RedisSessionStore(own, StoreOptions.of(JsonMessageCodec.create()));
			store.verifyServer();
			assertThat(this.log.list).isEmpty();
			server.serverCommands().setConfig("maxmemory-policy", "allkeys-lru");
			store.verifyServer();
			assertThat(this.log.list).as("a server without a limit is never full").isEmpty();
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
		assertThat(this.log.list).singleElement().satisfies((event) -> {
			assertThat(event.getLevel()).isEqualTo(Level.WARN);
			assertThat(event.getFormattedMessage()).contains("maxmemory-policy " + policy)
				.contains("a whole session")
				.contains("noeviction");
		});
	}

}
