package io.sessionkit.autoconfigure.store;

import java.nio.file.Path;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.h2.tools.Server;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * H2 that closes its database by itself while a shutdown still stores turns.
 */
@Isolated
@ExtendWith(OutputCaptureExtension.class)
class H2ExitLogTests {

	private static final String WARNING = "DB_CLOSE_ON_EXIT=FALSE";

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(MessageCodecAutoConfiguration.class, SessionStoreAutoConfiguration.class))
		.withPropertyValues("sessionkit.store.jdbc.initialize-schema=always");

	@TempDir
	private Path directory;

	@ParameterizedTest
	@ValueSource(strings = { "jdbc:h2:file:%s", "jdbc:h2:async:%s;WRITE_DELAY=0", "jdbc:h2:%s;DB_CLOSE_ON_EXIT=TRUE" })
	void fileThatIsClosedWhenTheProcessEndsIsWarnedOf(String url, CapturedOutput output) {
		start(pool(url.formatted(file())));
		assertThat(output).containsOnlyOnce(WARNING).doesNotContain(file());
	}

	@ParameterizedTest
	@ValueSource(strings = { "jdbc:h2:file:%s;DB_CLOSE_ON_EXIT=FALSE", "jdbc:h2:async:%s;db_close_on_exit=false",
			"jdbc:h2:%s;DB_CLOSE_ON_EXIT=0;WRITE_DELAY=0", "jdbc:h2:mem:exit" })
	void fileThatStaysOpenAndMemoryAreNotWarnedOf(String url, CapturedOutput output) {
		start(pool(url.formatted(file())));
		assertThat(output).doesNotContain(WARNING);
	}

	/** H2 takes one of the two settings only. */
	@Test
	void fileThatProcessesShareIsNotToldToTakeWhatH2Refuses(CapturedOutput output) {
		start(pool("jdbc:h2:file:" + file() + ";AUTO_SERVER=TRUE"));
		assertThat(output).containsOnlyOnce("Use H2 as a server, and leave AUTO_SERVER out").doesNotContain(WARNING);
	}

	@Test
	void fileOfAServerIsNotWarnedOf(CapturedOutput output) throws Exception {
		Server server = Server.createTcpServer("-tcpPort", "0", "-ifNotExists").start();
		try {
			start(pool("jdbc:h2:tcp://localhost:" + server.getPort() + "/" + file()));
		}
		finally {
			server.stop();
		}
		assertThat(output).doesNotContain(WARNING);
	}

	@Test
	void urlIsReadFromWhatSpringAndTheDriverHave() {
		String url = "jdbc:h2:file:" + file();
		JdbcDataSource driver = new JdbcDataSource();
		driver.setURL(url);
		assertThat(H2Exit.closesFile(driver)).isTrue();
		assertThat(H2Exit.closesFile(new DriverManagerDataSource(url))).isTrue();
		assertThat(H2Exit.closesFile(new DelegatingDataSource(pool(url)))).isTrue();
		assertThat(H2Exit.closesFile(new HikariDataSource())).isFalse();
	}

	private String file() {
		return this.directory.resolve("sessions").toAbsolutePath().toString();
	}

	private void start(DataSource dataSource) {
		this.runner.withBean(DataSource.class, () -> dataSource).run((context) -> assertThat(context).hasNotFailed());
	}

	private static HikariDataSource pool(String url) {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(url);
		pool.setUsername("sa");
		pool.setPassword("");
		return pool;
	}

}
