package io.sessionkit.faults;

import java.util.UUID;

import javax.sql.DataSource;

import io.sessionkit.store.SessionStore;
import io.sessionkit.test.MariaDbServer;
import io.sessionkit.test.PostgresServer;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Eight callers share one connection, or two. Who does not get one in time is told.
 */
@Timeout(3600)
class SmallPoolsTests {

	private static final int ACTIONS = 25;

	@ParameterizedTest
	@CsvSource({ "h2,1", "h2,2", "postgresql,1", "postgresql,2", "mariadb,1", "mariadb,2" })
	void nothingIsLostOrDoubledWhereConnectionsAreFew(String platform, int connections) throws Exception {
		long seed = Workload.seed("SmallPoolsTests, " + platform + " with " + connections);
		Workload workload = new Workload(seed, Workload.actions(ACTIONS));
		DataSource database = Ways.withTables(database(platform), platform);
		try (Ways ways = new Ways()) {
			SessionStore clean = ways.jdbc(database, 4);
			workload.run(ways.jdbc(database, connections), Workload.Fault.NONE);
			workload.audit(clean);
		}
	}

	private static DataSource database(String platform) {
		return switch (platform) {
			case "postgresql" -> {
				PostgresServer server = PostgresServer.running();
				yield server.dataSource(server.newDatabase());
			}
			case "mariadb" -> {
				MariaDbServer server = MariaDbServer.running();
				yield server.dataSource(server.newDatabase());
			}
			default -> {
				JdbcDataSource h2 = new JdbcDataSource();
				h2.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
				yield h2;
			}
		};
	}

}
