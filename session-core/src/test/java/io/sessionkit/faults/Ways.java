package io.sessionkit.faults;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.lettuce.core.internal.HostAndPort;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DnsResolvers;
import io.lettuce.core.resource.MappingSocketAddressResolver;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.jdbc.JdbcSessionStore;
import io.sessionkit.store.redis.RedisSessionStore;

import org.springframework.core.io.ClassPathResource;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

/**
 * The ways to one store that a run opens, and closes again when it is over.
 */
final class Ways implements AutoCloseable {

	static final StoreOptions OPTIONS = StoreOptions.of(JsonMessageCodec.create());

	private static final Duration PATIENCE = Duration.ofSeconds(2);

	private final Deque<AutoCloseable> opened = new ArrayDeque<>();

	/**
	 * Closes something with all else.
	 */
	<T extends AutoCloseable> T closing(T resource) {
		this.opened.push(resource);
		return resource;
	}

	SessionStore jdbc(DataSource database, int connections) {
		return jdbc(database, connections, OPTIONS);
	}

	SessionStore jdbc(DataSource database, int connections, StoreOptions options) {
		HikariDataSource pool = closing(new HikariDataSource());
		pool.setDataSource(database);
		pool.setMaximumPoolSize(connections);
		pool.setConnectionTimeout(PATIENCE.toMillis());
		pool.setValidationTimeout(PATIENCE.toMillis() / 2);
		pool.setInitializationFailTimeout(-1);
		return new JdbcSessionStore(pool, options);
	}

	static DataSource withTables(DataSource database, String platform) {
		new ResourceDatabasePopulator(new ClassPathResource("io/sessionkit/store/jdbc/schema-" + platform + ".sql"))
			.execute(database);
		return database;
	}

	SessionStore lettuce(RedisConfiguration servers, String prefix, StoreOptions options) {
		return lettuce(servers, prefix, options, closing(new Resources(ClientResources.create())).resources());
	}

	/**
	 * A way to a Cluster on which each node is behind a proxy.
	 * @param proxies the port of the proxy by that of the node
	 */
	SessionStore lettuce(RedisClusterConfiguration cluster, String prefix, Map<Integer, Integer> proxies) {
		MappingSocketAddressResolver resolver = MappingSocketAddressResolver.create(DnsResolvers.UNRESOLVED,
				(node) -> HostAndPort.of("127.0.0.1", proxies.getOrDefault(node.getPort(), node.getPort())));
		ClientResources resources = ClientResources.builder().socketAddressResolver(resolver).build();
		return lettuce(cluster, prefix, OPTIONS, closing(new Resources(resources)).resources());
	}

	private record Resources(ClientResources resources) implements AutoCloseable {

		@Override
		public void close() {
			this.resources.shutdown();
		}

	}

	private SessionStore lettuce(RedisConfiguration servers, String prefix, StoreOptions options,
			ClientResources resources) {
		LettuceConnectionFactory connections = new LettuceConnectionFactory(servers,
				LettuceClientConfiguration.builder()
					.clientResources(resources)
					.commandTimeout(PATIENCE)
					.shutdownTimeout(Duration.ZERO)
					.build());
		connections.start();
		closing(connections::destroy);
		return new RedisSessionStore(connections, options, prefix);
	}

	SessionStore jedis(RedisStandaloneConfiguration server, String prefix) {
		JedisConnectionFactory connections = new JedisConnectionFactory(server);
		connections.start();
		closing(connections::destroy);
		return new RedisSessionStore(connections, OPTIONS, prefix);
	}

	@Override
	public void close() throws Exception {
		while (!this.opened.isEmpty()) {
			this.opened.pop().close();
		}
	}

}
