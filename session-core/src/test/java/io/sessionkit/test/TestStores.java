package io.sessionkit.test;

import java.util.UUID;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.InMemorySessionStore;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.jdbc.JdbcSessionStore;
import org.h2.jdbcx.JdbcDataSource;

import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

/**
 * A new, empty store of each kind, for tests that are to hold on all of them.
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

	};

	private static final StoreOptions OPTIONS = StoreOptions.of(JsonMessageCodec.create());

	/**
	 * A new store. A pool that it uses ends with the JVM.
	 */
	public abstract SessionStore create();

	private static SessionStore jdbc(DataSource database, String platform) {
		HikariDataSource pool = new HikariDataSource();
		pool.setDataSource(database);
		pool.setMaximumPoolSize(4);
		new ResourceDatabasePopulator(new ClassPathResource("io/sessionkit/store/jdbc/schema-" + platform + ".sql"))
			.execute(pool);
		return new JdbcSessionStore(pool, OPTIONS);
	}

}
