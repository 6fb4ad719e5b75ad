package io.sessionkit.autoconfigure.store;

import java.util.Map;
import java.util.UUID;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

import static org.assertj.core.api.Assertions.assertThat;

@Isolated
@ExtendWith(OutputCaptureExtension.class)
class RoutingLogTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withConfiguration(
			AutoConfigurations.of(MessageCodecAutoConfiguration.class, SessionStoreAutoConfiguration.class));

	@Test
	void routingDataSourceIsWarnedOf(CapturedOutput output) {
		DataSource only = new DriverManagerDataSource("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
		this.runner.withBean(DataSource.class, () -> only).run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).doesNotContain("AbstractRoutingDataSource");
		this.runner.withBean(DataSource.class, () -> new Routing(only))
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).containsOnlyOnce("where an AbstractRoutingDataSource leads");
	}

	@Test
	void routingDataSourceBehindAProxyIsWarnedOf(CapturedOutput output) {
		DataSource only = new DriverManagerDataSource("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
		this.runner.withBean(DataSource.class, () -> new LazyConnectionDataSourceProxy(new Routing(only)))
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).containsOnlyOnce("where an AbstractRoutingDataSource leads");
	}

	private static final class Routing extends AbstractRoutingDataSource {

		private Routing(DataSource target) {
			setTargetDataSources(Map.of());
			setDefaultTargetDataSource(target);
			afterPropertiesSet();
		}

		@Override
		protected @Nullable Object determineCurrentLookupKey() {
			return null;
		}

	}

}
