package io.sessionkit.store.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Clock;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.Delay;
import io.netty.util.HashedWheelTimer;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.test.AnswerCut;
import io.sessionkit.test.RedisServers;
import io.sessionkit.test.TcpProxy;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.unit.DataSize;

/**
 * A store whose connections are cut, and one on the same keys whose connections are not.
 */
final class CutClient implements AutoCloseable {

	/** A driver and the server that it talks to. */
	enum Kind {

		/** Lettuce and one server. */
		LETTUCE,

		/** Jedis and one server. */
		JEDIS,

		/** Lettuce and a Cluster. */
		LETTUCE_CLUSTER,

		/** Jedis and a Cluster. */
		JEDIS_CLUSTER;

		private boolean isCluster() {
			return this == LETTUCE_CLUSTER || this == JEDIS_CLUSTER;
		}

		private boolean isLettuce() {
			return this == LETTUCE || this == LETTUCE_CLUSTER;
		}

	}

	private static final AnswerCut clusterCut = new AnswerCut();

	private static RedisServers cluster;

	private final AnswerCut cut;

	private final SessionStore store;

	private final SessionStore uncut;

	private final AutoCloseable resources;

	private CutClient(AnswerCut cut, RedisConnectionFactory behindProxy, RedisConnectionFactory direct,
			AutoCloseable resources) {
		StoreOptions options = StoreOptions.of(JsonMessageCodec.create())
			.viewCache(DataSize.ofBytes(0))
			.clock(Clock.fixed(CutOperation.AT, ZoneOffset.UTC));
		String prefix = "cut-" + UUID.randomUUID() + ":";
		this.cut = cut;
		this.store = new RedisSessionStore(behindProxy, options, prefix);
		this.uncut = new RedisSessionStore(direct, options, prefix);
		teach(direct);
		this.resources = resources;
	}

	/** A server that does not know a script yet answers twice. */
	private static void teach(RedisConnectionFactory connections) {
		try (RedisConnection connection = connections.getConnection()) {
			for (Script script : Script.values()) {
				connection.scriptingCommands().scriptLoad(script.text());
			}
		}
	}

	static CutClient of(Kind kind) {
		try {
			return kind.isCluster() ? onCluster(kind) : alone(kind);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static CutClient alone(Kind kind) throws IOException {
		RedisServers server = RedisServers.alone();
		AnswerCut cut = new AnswerCut();
		TcpProxy proxy = new TcpProxy(server.host(), server.port(), cut);
		Connections behindProxy = Connections.of(kind, new RedisStandaloneConfiguration("127.0.0.1", proxy.port()));
		Connections direct = Connections.of(Kind.LETTUCE, server.configuration());
		return new CutClient(cut, behindProxy.factory(), direct.factory(), () -> {
			behindProxy.close();
			direct.close();
			proxy.close();
		});
	}

	/** Nothing leads around the proxies of a Cluster. */
	private static synchronized CutClient onCluster(Kind kind) {
		if (cluster == null) {
			cluster = RedisServers.clusterBehindProxies(clusterCut);
		}
		Connections cutOnes = Connections.of(kind, cluster.configuration());
		Connections others = Connections.of(Kind.LETTUCE_CLUSTER, cluster.configuration());
		return new CutClient(clusterCut, cutOnes.factory(), others.factory(), () -> {
			cutOnes.close();
			others.close();
		});
	}

	AnswerCut cut() {
		return this.cut;
	}

	/** The store whose connections are cut. */
	SessionStore store() {
		return this.store;
	}

	/** The other one. */
	SessionStore uncut() {
		return this.uncut;
	}

	@Override
	public void close() throws Exception {
		this.resources.close();
	}

	/**
	 * Connections that are back at once.
	 */
	private record Connections(RedisConnectionFactory factory, Runnable end) implements AutoCloseable {

		static Connections of(Kind kind, RedisConfiguration configuration) {
			return kind.isLettuce() ? lettuce(configuration) : jedis(configuration);
		}

		private static Connections lettuce(RedisConfiguration configuration) {
			HashedWheelTimer timer = new HashedWheelTimer(1, TimeUnit.MILLISECONDS);
			ClientResources resources = DefaultClientResources.builder()
				.timer(timer)
				.reconnectDelay(Delay.constant(Duration.ofMillis(1)))
				.build();
			LettuceConnectionFactory factory = new LettuceConnectionFactory(configuration,
					LettuceClientConfiguration.builder()
						.clientResources(resources)
						.commandTimeout(Duration.ofSeconds(20))
						.shutdownTimeout(Duration.ZERO)
						.build());
			factory.start();
			return new Connections(factory, () -> {
				factory.destroy();
				resources.shutdown(0, 1, TimeUnit.SECONDS);
				timer.stop();
			});
		}

		private static Connections jedis(RedisConfiguration configuration) {
			JedisConnectionFactory factory = (configuration instanceof RedisClusterConfiguration nodes)
					? new JedisConnectionFactory(nodes)
					: new JedisConnectionFactory((RedisStandaloneConfiguration) configuration);
			factory.start();
			return new Connections(factory, factory::destroy);
		}

		@Override
		public void close() {
			this.end.run();
		}

	}

}
