package io.sessionkit.autoconfigure.store;

import java.util.UUID;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;

@Isolated
@ExtendWith(OutputCaptureExtension.class)
class UnusedMarkTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(MessageCodecAutoConfiguration.class, SessionStoreAutoConfiguration.class))
		.withUserConfiguration(Marked.class);

	/** As where another profile is active too. */
	@Test
	void markedDataSourceBesideAnotherStoreIsWarnedOf(CapturedOutput output) {
		this.runner.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).doesNotContain("is marked");
		this.runner.withPropertyValues("sessionkit.store.type=memory")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).containsOnlyOnce("The DataSource [sessions] is marked @SessionKitDataSource, but"
				+ " 'sessionkit.store.type' is 'memory', so no sessions are kept in it.");
	}

	@Configuration(proxyBeanMethods = false)
	static class Marked {

		@Bean(defaultCandidate = false)
		@SessionKitDataSource
		DataSource sessions() {
			return new DriverManagerDataSource("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
		}

	}

}
