package io.sessionkit.autoconfigure.store;

import java.nio.file.Path;
import java.util.List;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.sessionkit.SessionKey;
import io.sessionkit.autoconfigure.StartFailure;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.test.MariaDbServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Servers that take no writes from those who use them, which a setting of the whole
 * server says.
 */
@Isolated
class ReadOnlyDatabaseTests {

	private static final SessionKey KEY = SessionKey.of("t1");

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(MessageCodecAutoConfiguration.class, SessionStoreAutoConfiguration.class))
		.withPropertyValues("sessionkit.store.jdbc.initialize-schema=always");

	@TempDir
	Path directory;

	@Test
	void serverOfMariaDbThatTakesNoWritesIsReportedAndAWriteIsUnwritten() {
		MariaDbServer server = MariaDbServer.running();
		String name = server.newDatabase();
		JdbcTemplate administrator = new JdbcTemplate(server.dataSource(name));
		administrator.execute("create user reader identified by 'right'");
		administrator.execute("grant all on " + name + ".* to reader");
		DataSource limited = new DriverManagerDataSource(
				"jdbc:mariadb://" + server.host() + ":" + server.port() + "/" + name, "reader", "right");
		ApplicationContextRunner application = this.runner.withBean(DataSource.class, () -> limited);
		application.run((context) -> {
			SessionStore store = context.getBean(SessionStore.class);
			store.add(KEY, List.of(new UserMessage("first")));
			administrator.execute("set global read_only = 1");
			try {
				assertThatExceptionOfType(StoreUnavailableException.class)
					.isThrownBy(() -> store.add(KEY, List.of(new UserMessage("second"))))
					.withMessageContaining("connect to the primary server")
					.matches(StoreUnavailableException::isUnwritten);
				FailureAnalysis analysis = StartFailure.analysis(application);
				assertThat(analysis.getDescription()).contains("takes no writes").contains("error 1290");
			}
			finally {
				administrator.execute("set global read_only = 0");
			}
			assertThat(store.messages(KEY)).hasSize(1);
		});
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
