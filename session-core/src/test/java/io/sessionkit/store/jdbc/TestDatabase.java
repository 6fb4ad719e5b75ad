package io.sessionkit.store.jdbc;

import java.util.UUID;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.sessionkit.SessionKey;
import io.sessionkit.store.row.KeyHash;
import io.sessionkit.test.PostgresServer;

import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

/**
 * An empty database of a test, and pools of connections to it.
 */
final class TestDatabase {

	private final String name;

	private final String script;

	private final DataSource direct;

	private TestDatabase(String name, String script, DataSource direct) {
		this.name = name;
		this.script = script;
		this.direct = direct;
	}

	static TestDatabase h2() {
		org.h2.jdbcx.JdbcDataSource dataSource = new org.h2.jdbcx.JdbcDataSource();
		dataSource.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=10000");
		dataSource.setUser("sa");
		return new TestDatabase("H2", "h2", dataSource);
	}

	static TestDatabase postgres() {
		PostgresServer server = PostgresServer.running();
		return new TestDatabase(server.toString(), "postgresql", server.dataSource(server.newDatabase()));
	}

	/** With the tables. */
	TestDatabase created() {
		runScript();
		return this;
	}

	void runScript() {
		runScript(this.script, this.direct);
	}

	static void runScript(String database, DataSource dataSource) {
		new ResourceDatabasePopulator(new ClassPathResource("io/sessionkit/store/jdbc/schema-" + database + ".sql"))
			.execute(dataSource);
	}

	HikariDataSource pool(int size) {
		return pool(this.direct, size, true);
	}

	static HikariDataSource pool(DataSource direct, int size, boolean autoCommit) {
		HikariConfig config = new HikariConfig();
		config.setDataSource(direct);
		config.setMaximumPoolSize(size);
		config.setMinimumIdle(0);
		config.setAutoCommit(autoCommit);
		config.setConnectionTimeout(10_000);
		config.setInitializationFailTimeout(-1);
		return new HikariDataSource(config);
	}

	DataSource direct() {
		return this.direct;
	}

	JdbcTemplate sql() {
		return new JdbcTemplate(this.direct);
	}

	boolean corrupt(SessionKey key, long sequence) {
		return sql().update("""
				update SESSIONKIT_ITEM set body = '{broken' where seq = ? and session_pk in
					(select pk from SESSIONKIT_SESSION where key_hash = ?)
				""", sequence, KeyHash.of(key).session()) == 1;
	}

	@Override
	public String toString() {
		return this.name;
	}

}
