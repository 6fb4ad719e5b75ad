package io.sessionkit.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.SQLException;

import io.sessionkit.store.SessionStore;
import io.sessionkit.store.jdbc.JdbcSessionStore;
import io.sessionkit.test.PostgresProxy;

import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/**
 * SessionKit's store in a PostgreSQL database of its own. It has one connection and no
 * pool: a pool would now and then ask whether the connection is alive, which is a round
 * trip that nobody can foresee.
 */
final class PostgresStepServer implements StepServer {

	private final PostgresLab lab;

	private final PostgresProxy proxy;

	private final SingleConnectionDataSource connection;

	private final SessionStore store;

	PostgresStepServer(PostgresLab lab) {
		this.lab = lab;
		String database = lab.newDatabase();
		Pools.runScript(Contenders.POSTGRES_SCHEMA, lab.connections(database, false));
		try {
			this.proxy = new PostgresProxy(lab.host(), lab.port());
			this.connection = new SingleConnectionDataSource(
					lab.connections(database, false, this.proxy.host(), this.proxy.port()).getConnection(), true);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
		this.store = new JdbcSessionStore(this.connection, Contenders.OPTIONS);
	}

	@Override
	public String name() {
		return Contenders.POSTGRES;
	}

	@Override
	public SessionStore store() {
		return this.store;
	}

	@Override
	public long roundTrips() {
		return this.proxy.roundTrips();
	}

	@Override
	public double logBytes() {
		return this.lab.logBytes();
	}

	@Override
	public void close() {
		this.connection.destroy();
		try {
			this.proxy.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
