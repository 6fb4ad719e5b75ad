package io.sessionkit.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import javax.sql.DataSource;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.postgresql.ds.PGSimpleDataSource;

import static org.awaitility.Awaitility.await;

/**
 * A PostgreSQL server that can be ended as by a crash: with all that serves its
 * connections, at once, and without writing anything.
 */
final class PostgresProcess implements Server {

	private final int port;

	private final Path directory;

	private final EmbeddedPostgres first;

	private final List<String> command;

	PostgresProcess() throws IOException {
		this.port = Server.freePort();
		this.directory = Files.createTempDirectory("postgres-killed").resolve("data");
		this.first = EmbeddedPostgres.builder()
			.setPort(this.port)
			.setDataDirectory(this.directory)
			.setServerConfig("max_connections", "50")
			.setServerConfig("synchronous_commit", "on")
			.start();
		this.command = command(process().info());
	}

	private static List<String> command(ProcessHandle.Info info) {
		List<String> command = new ArrayList<>();
		if (System.getProperty("user.name").equals("root")) {
			// it does not run as root
			command.addAll(List.of("unshare", "-U"));
		}
		command.add(info.command().orElseThrow());
		command.addAll(Arrays.asList(info.arguments().orElseThrow()));
		return command;
	}

	private ProcessHandle process() throws IOException {
		List<String> lines = Files.readAllLines(this.directory.resolve("postmaster.pid"));
		return ProcessHandle.of(Long.parseLong(lines.get(0))).orElseThrow();
	}

	@Override
	public int port() {
		return this.port;
	}

	DataSource database() {
		PGSimpleDataSource database = new PGSimpleDataSource();
		database.setServerNames(new String[] { "127.0.0.1" });
		database.setPortNumbers(new int[] { this.port });
		database.setDatabaseName("postgres");
		database.setUser("postgres");
		database.setSslMode("disable");
		return database;
	}

	@Override
	public void kill() throws IOException {
		ProcessHandle process = process();
		new ProcessBuilder("kill", "-QUIT", String.valueOf(process.pid())).start();
		Server.awaitEnd(process);
	}

	@Override
	public void start() throws IOException {
		new ProcessBuilder(this.command).redirectErrorStream(true)
			.redirectOutput(ProcessBuilder.Redirect.DISCARD)
			.start();
		await().atMost(Duration.ofSeconds(60)).ignoreExceptions().until(() -> {
			database().getConnection().close();
			return true;
		});
	}

	@Override
	public void close() throws IOException {
		this.first.close();
	}

}
