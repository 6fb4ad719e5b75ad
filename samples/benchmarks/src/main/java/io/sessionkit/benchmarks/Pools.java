package io.sessionkit.benchmarks;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

/**
 * Connection pools, the same for all contenders.
 */
final class Pools {

	/**
	 * The size of each pool: the largest number of threads, so that no thread waits for a
	 * connection.
	 */
	static final int SIZE = 16;

	private Pools() {
	}

	static HikariDataSource of(DataSource connections, int size) {
		HikariConfig config = new HikariConfig();
		config.setDataSource(connections);
		config.setMaximumPoolSize(size);
		config.setMinimumIdle(1);
		return new HikariDataSource(config);
	}

	static void runScript(String resource, DataSource dataSource) {
		new ResourceDatabasePopulator(new ClassPathResource(resource)).execute(dataSource);
	}

}
