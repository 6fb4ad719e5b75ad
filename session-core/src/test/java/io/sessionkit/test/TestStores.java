package io.sessionkit.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.extension.FileSessionStore;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.jdbc.JdbcSessionStore;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.store.redis.RedisSessionStore;
import org.h2.jdbcx.JdbcDataSource;
import org.hsqldb.jdbc.JDBCDataSource;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteDataSource;

import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

/**
 * A new, empty store of each kind, for tests that are to hold on all of them. With
 * {@code -Dsessionkit.store=MEMORY} tests with such a parameter run on that one alone.
 */
public enum TestStores {

	/** In memory. */
	MEMORY {

		@Override
		public SessionStore create() {
			return new InMemorySessionStore(OPTIONS);
		}

	},

	/** H2 in memory. */
	H2 {

		@Override
		public SessionStore create() {
			JdbcDataSource database = new JdbcDataSource();
			database.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
			return jdbc(database, "h2");
		}

	},

	/** PostgreSQL, a server of its own. */
	POSTGRESQL {

		@Override
		public SessionStore create() {
			PostgresServer server = PostgresServer.running();
			return jdbc(server.dataSource(server.newDatabase()), "postgresql");
		}

	},

	/** MariaDB, a server of its own. */
	MARIADB {

		@Override
		public SessionStore create() {
			MariaDbServer server = MariaDbServer.running();
			return jdbc(server.dataSource(server.newDatabase()), "mariadb");
		}

	},

	/** SQLite, in a file of the build with a write-ahead log. */
	SQLITE {

		@Override
		public SessionStore create() {
			SQLiteConfig config = new SQLiteConfig();
			config.setJournalMode(SQLiteConfig.JournalMode.WAL);
			config.setBusyTimeout(10_000);
			SQLiteDataSource database = new SQLiteDataSource(config);
			database.setUrl("jdbc:sqlite:" + directory().resolve("sessions.db"));
			return jdbc(database, "sqlite");
		}

	},

	/** HSQLDB in memory. */
	HSQLDB {

		@Override
		public SessionStore create() {
			JDBCDataSource database = new JDBCDataSource();
			database.setURL("jdbc:hsqldb:mem:" + UUID.randomUUID() + ";hsqldb.tx=mvcc");
			database.setUser("sa");
			return jdbc(database, "hsqldb");
		}

	},

	/** Files of the build, by a store that is written as the documentation says. */
	FILE {

		@Override
		public SessionStore create() {
			return new FileSessionStore(directory(), OPTIONS);
		}

	},

	/** Redis, a server of its own. */
	REDIS {

		@Override
		public SessionStore create() {
			return redis(RedisServers.alone());
		}

	},

	/** Redis, a Cluster of its own. */
	REDIS_CLUSTER {

		@Override
		public SessionStore create() {
			return redis(RedisServers.cluster());
		}

	};

	private static final StoreOptions OPTIONS = StoreOptions.of(JsonMessageCodec.create());

	/**
	 * A new store. Connections that it uses end with the JVM.
	 */
	public abstract SessionStore create();

	private static Path directory() {
		try {
			Path directory = Files.createDirectories(Path.of("target", "databases"));
			return Files.createTempDirectory(directory, "store");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static SessionStore redis(RedisServers servers) {
		return new RedisSessionStore(servers.connections(), OPTIONS, "test-" + UUID.randomUUID() + ":");
	}

	private static SessionStore jdbc(DataSource database, String platform) {
		HikariDataSource pool = new HikariDataSource();
		pool.setDataSource(database);
		pool.setMaximumPoolSize(4);
		// nobody closes these pools, and a server has connections for only so many
		pool.setMinimumIdle(0);
		pool.setIdleTimeout(10_000);
		new ResourceDatabasePopulator(new ClassPathResource("io/sessionkit/store/jdbc/schema-" + platform + ".sql"))
			.execute(pool);
		return new JdbcSessionStore(pool, OPTIONS);
	}

}
