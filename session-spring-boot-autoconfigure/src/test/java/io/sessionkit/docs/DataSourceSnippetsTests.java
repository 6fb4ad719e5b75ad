package io.sessionkit.docs;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.h2.Driver;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.ConfigurationPropertiesAutoConfiguration;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.core.env.PropertySource;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The code of {@code docs/configuration.md} has the addresses of the YAML beside it.
 */
class DataSourceSnippetsTests {

	private static final Path PAGE = Path.of("..", "docs", "configuration.md");

	@Test
	void eachDataSourceHasTheAddressOfTheYaml() throws IOException {
		PropertySource<?> yaml = yaml();
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(ConfigurationPropertiesAutoConfiguration.class))
			.withUserConfiguration(DataSourceSnippets.DataSources.class)
			.withInitializer((context) -> context.getEnvironment().getPropertySources().addFirst(yaml))
			.run((context) -> {
				assertThat(context.getBean("orders", HikariDataSource.class).getJdbcUrl()).endsWith("/orders");
				assertThat(context.getBean("sessions", HikariDataSource.class).getJdbcUrl()).endsWith("/sessions");
			});
	}

	/** The qualified method joins the sessions, all others keep Spring Boot's manager. */
	@Test
	void managerOfTheSessionsIsBesideThatOfSpringBoot() {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DataSourceTransactionManagerAutoConfiguration.class,
					TransactionAutoConfiguration.class))
			.withUserConfiguration(Pools.class, DataSourceSnippets.SessionTransactions.class, Service.class)
			.run((context) -> {
				Service service = context.getBean(Service.class);
				assertThat(service.inSessions()).containsExactly("sessions");
				assertThat(service.inOrders()).containsExactly("orders");
			});
	}

	@Configuration(proxyBeanMethods = false)
	static class Pools {

		@Bean
		@Primary
		DataSource orders() {
			return new SimpleDriverDataSource(new Driver(), "jdbc:h2:mem:orders");
		}

		@Bean(defaultCandidate = false)
		DataSource sessions() {
			return new SimpleDriverDataSource(new Driver(), "jdbc:h2:mem:sessions");
		}

	}

	static class Service {

		private final Map<String, DataSource> pools;

		Service(@Qualifier("orders") DataSource orders, @Qualifier("sessions") DataSource sessions) {
			this.pools = Map.of("orders", orders, "sessions", sessions);
		}

		@Transactional("sessionTransactions")
		List<String> inSessions() {
			return bound();
		}

		@Transactional
		List<String> inOrders() {
			return bound();
		}

		private List<String> bound() {
			return this.pools.keySet()
				.stream()
				.filter((name) -> TransactionSynchronizationManager.hasResource(this.pools.get(name)))
				.toList();
		}

	}

	private static PropertySource<?> yaml() throws IOException {
		Matcher block = Pattern.compile("```yaml\n(app:\n.*?)```", Pattern.DOTALL).matcher(Files.readString(PAGE));
		assertThat(block.find()).isTrue();
		ByteArrayResource resource = new ByteArrayResource(block.group(1).getBytes(StandardCharsets.UTF_8));
		return new YamlPropertySourceLoader().load("application.yml", resource).get(0);
	}

}
