package io.sessionkit.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.postgresql.ds.PGSimpleDataSource;

import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A PostgreSQL server of its own on the loopback interface. It has PostgreSQL's default
 * settings except for the number of connections; the jar it comes from would turn off
 * <code>fsync</code> and <code>synchronous_commit</code>.
 */
final class PostgresLab implements AutoCloseable {

	private static final String HOST = "127.0.0.1";

	private final AtomicInteger databases = new AtomicInteger();

	private final EmbeddedPostgres server;

	private PostgresLab(EmbeddedPostgres server) {
		this.server = server;
	}

	/**
	 * Starts the server.
	 * @param fsync whether a commit waits until it is on the disk
	 */
	static PostgresLab start(boolean fsync) {
		return start(EmbeddedPostgres.builder().setServerConfig("fsync", fsync ? "on" : "off"));
	}

	/**
	 * Starts a server that writes to its log only what it is made to write: it neither
	 * vacuums nor makes checkpoints by itself, and waits for no disk.
	 */
	static PostgresLab quiet() {
		return start(EmbeddedPostgres.builder()
			.setServerConfig("fsync", "off")
			.setServerConfig("autovacuum", "off")
			.setServerConfig("checkpoint_timeout", "1d"));
	}

	private static PostgresLab start(EmbeddedPostgres.Builder builder) {
		try {
			return new PostgresLab(builder.setServerConfig("synchronous_commit", "on")
				.setServerConfig("max_connections", "300")
				.start());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	String newDatabase() {
		String database = "benchmark_" + this.databases.incrementAndGet();
		new JdbcTemplate(connections("postgres", true)).execute("create database " + database);
		return database;
	}

	/**
	 * Returns connections to a database, a new one each time.
	 * @param database its name
	 * @param waiting whether a commit waits for the disk
	 */
	DataSource connections(String database, boolean waiting) {
		return connections(database, waiting, HOST, this.server.getPort());
	}

	/**
	 * Returns the same connections through a proxy.
	 */
	DataSource connections(String database, boolean waiting, String host, int port) {
		PGSimpleDataSource dataSource = new PGSimpleDataSource();
		dataSource.setServerNames(new String[] { host });
		dataSource.setPortNumbers(new int[] { port });
		dataSource.setDatabaseName(database);
		dataSource.setUser("postgres");
		dataSource.setSslMode("disable");
		if (!waiting) {
			dataSource.setOptions("-c synchronous_commit=off");
		}
		return dataSource;
	}

	String host() {
		return HOST;
	}

	int port() {
		return this.server.getPort();
	}

	/**
	 * Returns how many bytes all databases have written to the write-ahead log so far.
	 */
	double logBytes() {
		Double bytes = new JdbcTemplate(connections("postgres", true))
			.queryForObject("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')", Double.class);
		return Objects.requireNonNull(bytes);
	}

	/**
	 * Returns the version and the settings that decide what a commit waits for.
	 */
	@Override
	public String toString() {
		return "PostgreSQL " + show("server_version") + " on loopback, fsync=" + show("fsync") + ", synchronous_commit="
				+ show("synchronous_commit") + ", wal_sync_method=" + show("wal_sync_method") + ", shared_buffers="
				+ show("shared_buffers");
	}

	private String show(String setting) {
		return String
			.valueOf(new JdbcTemplate(connections("postgres", true)).queryForObject("show " + setting, String.class));
	}

	@Override
	public void close() {
		try {
			this.server.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
