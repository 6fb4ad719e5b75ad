package io.sessionkit.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.UUID;

import javax.sql.DataSource;

import io.sessionkit.SessionKey;
import io.sessionkit.autoconfigure.advisor.SessionAdvisorAutoConfiguration;
import io.sessionkit.autoconfigure.store.MessageCodecAutoConfiguration;
import io.sessionkit.autoconfigure.store.SessionStoreAutoConfiguration;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.SessionPurge;
import io.sessionkit.store.SessionStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

@Isolated
class SessionPurgeAutoConfigurationTests {

	private static final String URL = "jdbc:h2:mem:" + UUID.randomUUID();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(MessageCodecAutoConfiguration.class,
				SessionStoreAutoConfiguration.class, SessionAdvisorAutoConfiguration.class));

	private final ApplicationContextRunner jdbc = this.runner
		.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
		.withPropertyValues("spring.datasource.url=" + URL, "sessionkit.time-to-live=6s", "sessionkit.lease=1s",
				"sessionkit.purge.interval=1s");

	@Test
	void textsOfExpiredSessionsAreDeletedFromTheDatabase() {
		this.jdbc.run((context) -> {
			SessionStore store = context.getBean(SessionStore.class);
			JdbcTemplate sql = new JdbcTemplate(context.getBean(DataSource.class));
			SessionKey stays = SessionKey.of("stays");
			store.add(stays, List.of(new UserMessage("text")));
			store.commit(Commit.any(stays).header(HeaderChange.NONE.timeToLive(Duration.ZERO)));
			store.add(SessionKey.of("goes"), List.of(new UserMessage("text")));
			assertThat(turns(sql)).isEqualTo(2);
			await().atMost(Duration.ofSeconds(30)).until(() -> turns(sql) == 1);
			assertThat(store.messages(stays)).hasSize(1);
		});
	}

	@Test
	void nothingIsDeletedWhereThePurgeIsOff() {
		this.jdbc.withPropertyValues("sessionkit.purge.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(SessionPurge.class));
	}

	@Test
	void purgeIsOnHoweverThatIsWritten() {
		this.jdbc.withPropertyValues("sessionkit.purge.enabled=on")
			.run((context) -> assertThat(context).hasSingleBean(SessionPurge.class));
	}

	@Test
	void purgeRunsAlthoughBeansAreCreatedLazily() {
		this.runner
			.withInitializer(
					(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
			.run((context) -> assertThat(threads()).isPositive());
	}

	@Test
	void purgeEndsWithTheContext() {
		long before = threads();
		this.runner.run((context) -> {
			assertThat(context).hasSingleBean(SessionPurge.class);
			assertThat(threads()).isEqualTo(before + 1);
		});
		await().until(() -> threads() == before);
	}

	private static long threads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().equals("sessionkit-purge"))
			.count();
	}

	private static int turns(JdbcTemplate sql) {
		return requireNonNull(sql.queryForObject("select count(*) from SESSIONKIT_TURN", Integer.class));
	}

}
