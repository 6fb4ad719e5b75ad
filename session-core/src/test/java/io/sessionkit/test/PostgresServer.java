package io.sessionkit.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.postgresql.PostgreSQLContainer;
import org.testcontainers.utility.DockerImageName;

/**
 * The PostgreSQL server of the tests: a container where a Docker engine answers,
 * otherwise a real server from a jar. One for the whole JVM, started on first use and
 * stopped with the JVM; each test class takes a database of its own.
 */
public final class PostgresServer {

	private static final String IMAGE = "postgres:17-alpine";

	private static @Nullable PostgresServer running;

	private final AtomicInteger databases = new AtomicInteger();

	private final String name;

	private final String host;

	private final int port;

	private final String user;

	private final String password;

	private PostgresServer(String name, String host, int port, String user, String password) {
		this.name = name;
		this.host = host;
		this.port = port;
		this.user = user;
		this.password = password;
	}

	/**
	 * The server, started if it is not running yet. Prints which one it is.
	 * @return the server
	 */
	public static synchronized PostgresServer running() {
		if (running == null) {
			PostgresServer started = DockerClientFactory.instance().isDockerAvailable() ? container() : embedded();
			running = started;
			System.out.println("PostgreSQL of the tests: " + started);
		}
		return running;
	}

	private static PostgresServer container() {
		PostgreSQLContainer container = new PostgreSQLContainer(DockerImageName.parse(IMAGE));
		container.start();
		Runtime.getRuntime().addShutdownHook(new Thread(container::stop));
		return new PostgresServer("container " + IMAGE, container.getHost(),
				container.getMappedPort(PostgreSQLContainer.POSTGRESQL_PORT), container.getUsername(),
				container.getPassword());
	}

	private static PostgresServer embedded() {
		try {
			EmbeddedPostgres server = EmbeddedPostgres.builder()
				.setServerConfig("fsync", "off")
				.setServerConfig("max_connections", "400")
				// it would look through a hundred databases that nobody uses any more,
				// and
				// give tests statistics that they are not to have
				.setServerConfig("autovacuum", "off")
				.start();
			Runtime.getRuntime().addShutdownHook(new Thread(() -> close(server)));
			return new PostgresServer("embedded server", "127.0.0.1", server.getPort(), "postgres", "postgres");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static void close(EmbeddedPostgres server) {
		try {
			server.close();
		}
		catch (IOException ex) {
			// the JVM ends anyway
		}
	}

	/**
	 * A new, empty database.
	 * @return its name
	 */
	public String newDatabase() {
		String database = "sessionkit_" + this.databases.incrementAndGet();
		try (Connection connection = dataSource("postgres").getConnection();
				Statement statement = connection.createStatement()) {
			statement.execute("create database " + database);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
		return database;
	}

	/**
	 * Connections to a database, a new one each time.
	 * @param database its name
	 * @return the data source
	 */
	public DataSource dataSource(String database) {
		return dataSource(database, this.host, this.port);
	}

	/**
	 * Connections to a database by way of another port, behind which a proxy is.
	 * @param database its name
	 * @param host where the proxy listens
	 * @param port where the proxy listens
	 * @return the data source
	 */
	public DataSource dataSource(String database, String host, int port) {
		PGSimpleDataSource dataSource = new PGSimpleDataSource();
		dataSource.setServerNames(new String[] { host });
		dataSource.setPortNumbers(new int[] { port });
		dataSource.setDatabaseName(database);
		dataSource.setUser(this.user);
		dataSource.setPassword(this.password);
		dataSource.setSslMode("disable");
		return dataSource;
	}

	/**
	 * Returns the host that the server listens on.
	 * @return the host
	 */
	public String host() {
		return this.host;
	}

	/**
	 * Returns the port that the server listens on.
	 * @return the port
	 */
	public int port() {
		return this.port;
	}

	/**
	 * Returns the user that may connect.
	 * @return the user
	 */
	public String user() {
		return this.user;
	}

	/**
	 * Returns the password of that user.
	 * @return the password
	 */
	public String password() {
		return this.password;
	}

	/**
	 * Returns the kind of the server, and its version.
	 */
	@Override
	public String toString() {
		try (Connection connection = dataSource("postgres").getConnection()) {
			return connection.getMetaData().getDatabaseProductVersion() + " (" + this.name + ")";
		}
		catch (SQLException ex) {
			return this.name;
		}
	}

}
