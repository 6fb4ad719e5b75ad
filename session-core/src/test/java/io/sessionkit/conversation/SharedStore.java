package io.sessionkit.conversation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;

import com.zaxxer.hikari.HikariDataSource;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.jdbc.JdbcSessionStore;
import io.sessionkit.store.redis.RedisSessionStore;
import io.sessionkit.test.MariaDbServer;
import io.sessionkit.test.PostgresServer;
import io.sessionkit.test.RedisServers;
import org.mariadb.jdbc.MariaDbDataSource;
import org.postgresql.ds.PGSimpleDataSource;

import org.springframework.core.io.ClassPathResource;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

/**
 * A store on a server, in words that another process can be started with.
 *
 * @param words the kind of the store and where it is
 */
public record SharedStore(List<String> words) {

	private static final StoreOptions OPTIONS = StoreOptions.of(JsonMessageCodec.create());

	public static SharedStore inPostgres() {
		PostgresServer server = PostgresServer.running();
		PGSimpleDataSource database = (PGSimpleDataSource) server.dataSource(server.newDatabase());
		new ResourceDatabasePopulator(new ClassPathResource("io/sessionkit/store/jdbc/schema-postgresql.sql"))
			.execute(database);
		return new SharedStore(
				List.of("postgresql", database.getUrl(), database.getUser(), String.valueOf(database.getPassword())));
	}

	public static SharedStore inMariaDb() {
		MariaDbServer server = MariaDbServer.running();
		MariaDbDataSource database = (MariaDbDataSource) server.dataSource(server.newDatabase());
		new ResourceDatabasePopulator(new ClassPathResource("io/sessionkit/store/jdbc/schema-mariadb.sql"))
			.execute(database);
		return new SharedStore(List.of("mariadb", String.valueOf(database.getUrl()), String.valueOf(database.getUser()),
				server.password()));
	}

	public static SharedStore inRedis() {
		RedisServers server = RedisServers.alone();
		return new SharedStore(
				List.of("redis", server.host(), String.valueOf(server.port()), "shared-" + UUID.randomUUID() + ":"));
	}

	/**
	 * A file of the build, which one process at a time can open. Without a delay of
	 * writes: what H2 keeps back for half a second by default is lost with the process.
	 */
	public static SharedStore inH2File() {
		try {
			Path directory = Files.createDirectories(Path.of("target", "databases").toAbsolutePath());
			Path file = Files.createTempDirectory(directory, "shared").resolve("sessions");
			SharedStore shared = new SharedStore(
					List.of("h2", "jdbc:h2:file:" + file + ";WRITE_DELAY=0;DB_CLOSE_ON_EXIT=FALSE", "sa", ""));
			try (HikariDataSource pool = shared.pool()) {
				new ResourceDatabasePopulator(new ClassPathResource("io/sessionkit/store/jdbc/schema-h2.sql"))
					.execute(pool);
			}
			return shared;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * A store and what it is connected by.
	 */
	public record Connected(SessionStore store, Runnable connections) implements AutoCloseable {

		@Override
		public void close() {
			this.connections.run();
		}

	}

	/**
	 * The store, with connections that end with the JVM.
	 */
	public SessionStore open() {
		return connect().store();
	}

	public Connected connect() {
		return this.words.get(0).equals("redis") ? redis() : jdbc(pool());
	}

	private Connected jdbc(HikariDataSource pool) {
		return new Connected(new JdbcSessionStore(pool, OPTIONS), pool::close);
	}

	private HikariDataSource pool() {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(this.words.get(1));
		pool.setUsername(this.words.get(2));
		pool.setPassword(this.words.get(3));
		pool.setMaximumPoolSize(2);
		return pool;
	}

	private Connected redis() {
		LettuceConnectionFactory connections = new LettuceConnectionFactory(
				new RedisStandaloneConfiguration(this.words.get(1), Integer.parseInt(this.words.get(2))));
		connections.start();
		return new Connected(new RedisSessionStore(connections, OPTIONS, this.words.get(3)), connections::destroy);
	}

}
