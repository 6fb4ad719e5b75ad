package io.sessionkit.faults;

import java.io.IOException;
import java.util.List;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.jdbc.JdbcSessionStore;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * A server that logs what is written, as one with replicas does.
 */
class BinaryLogTests {

	private static final SessionKey KEY = SessionKey.of("owner", "t1");

	@Test
	void mariaDbThatLogsStatementsAloneIsRefusedAndOneThatLogsRowsWorks() throws IOException {
		try (MariaDbProcess server = new MariaDbProcess("--log-bin", "--binlog-format=STATEMENT")) {
			new ResourceDatabasePopulator(new ClassPathResource("io/sessionkit/store/jdbc/schema-mariadb.sql"))
				.execute(server.database());
			assertThatIllegalStateException().isThrownBy(() -> store(server).find(KEY))
				.withMessageContaining("binlog_format=STATEMENT")
				.withMessageContaining("MIXED");
			for (String format : List.of("MIXED", "ROW")) {
				new JdbcTemplate(server.database()).execute("set global binlog_format = " + format);
				store(server).add(KEY, List.of(new UserMessage("text")));
			}
			assertThat(store(server).messages(KEY)).hasSize(2);
		}
	}

	private static SessionStore store(MariaDbProcess server) {
		return new JdbcSessionStore(server.database(), StoreOptions.of(JsonMessageCodec.create()));
	}

}
