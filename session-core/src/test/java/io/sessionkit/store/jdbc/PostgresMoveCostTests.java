package io.sessionkit.store.jdbc;

import java.io.IOException;
import java.util.List;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.sessionkit.conversation.MoveCosts;
import io.sessionkit.store.SessionStore;
import io.sessionkit.test.PostgresProxy;
import io.sessionkit.test.PostgresServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Round trips on the wire, and rows that were inserted or changed.
 */
class PostgresMoveCostTests extends MoveCosts {

	private static final PostgresServer SERVER = PostgresServer.running();

	private PostgresProxy proxy;

	private HikariDataSource pool;

	private SessionStore store;

	private JdbcTemplate sql;

	private long begun;

	private long counted;

	@BeforeEach
	void start() throws IOException {
		String database = SERVER.newDatabase();
		DataSource direct = SERVER.dataSource(database);
		TestDatabase.runScript("postgresql", direct);
		this.sql = new JdbcTemplate(direct);
		this.proxy = new PostgresProxy(SERVER.host(), SERVER.port());
		this.pool = TestDatabase.pool(SERVER.dataSource(database, this.proxy.host(), this.proxy.port()), 1, true);
		this.store = JdbcTransactionContract.storeOn(this.pool);
		this.begun = transaction();
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

	/** The rows that transactions since the last call have written. */
	@Override
	protected long writes() {
		for (String table : List.of("session", "turn", "item", "record")) {
			this.counted += this.sql.queryForObject(
					"select count(*) from SESSIONKIT_" + table + " where cast(cast(xmin as text) as bigint) >= ?",
					Long.class, this.begun);
		}
		this.begun = transaction();
		return this.counted;
	}

	private long transaction() {
		return this.sql.queryForObject("select txid_current()", Long.class);
	}

}
