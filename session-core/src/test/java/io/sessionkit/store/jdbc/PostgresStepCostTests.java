package io.sessionkit.store.jdbc;

import java.io.IOException;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.sessionkit.approval.StepCosts;
import io.sessionkit.store.SessionStore;
import io.sessionkit.test.PostgresProxy;
import io.sessionkit.test.PostgresServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

class PostgresStepCostTests extends StepCosts {

	private static final PostgresServer SERVER = PostgresServer.running();

	private PostgresProxy proxy;

	private HikariDataSource pool;

	private SessionStore store;

	@BeforeEach
	void start() throws IOException {
		String database = SERVER.newDatabase();
		TestDatabase.runScript("postgresql", SERVER.dataSource(database));
		this.proxy = new PostgresProxy(SERVER.host(), SERVER.port());
		DataSource counted = SERVER.dataSource(database, this.proxy.host(), this.proxy.port());
		this.pool = TestDatabase.pool(counted, 1, true);
		this.store = JdbcTransactionContract.storeOn(this.pool);
	}

	@AfterEach
	void stop() throws IOException {
		this.pool.close();
		this.proxy.close();
	}

	@Override
	protected SessionStore store() {
		return this.store;
	}

	@Override
	protected long roundTrips() {
		return this.proxy.roundTrips();
	}

}
