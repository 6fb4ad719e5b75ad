package io.sessionkit.migration;

import java.util.UUID;

import javax.sql.DataSource;

import io.sessionkit.test.PostgresServer;
import org.h2.jdbcx.JdbcConnectionPool;

import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

/**
 * A new database with the tables of the libraries that conversations are imported from,
 * as their own scripts create them.
 */
enum SourceDatabase {

	H2("h2") {

		@Override
		DataSource empty() {
			// a check of theirs is bound to the connection that has made it
			return JdbcConnectionPool.create("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1", "sa", "");
		}

	},

	POSTGRESQL("postgresql") {

		@Override
		DataSource empty() {
			PostgresServer server = PostgresServer.running();
			return server.dataSource(server.newDatabase());
		}

	};

	private final String script;

	SourceDatabase(String script) {
		this.script = script;
	}

	abstract DataSource empty();

	DataSource create() {
		DataSource database = empty();
		new ResourceDatabasePopulator(
				new ClassPathResource(
						"org/springframework/ai/chat/memory/repository/jdbc/schema-" + this.script + ".sql"),
				new ClassPathResource("org/springframework/ai/session/jdbc/schema-" + this.script + ".sql"))
			.execute(database);
		return database;
	}

}
