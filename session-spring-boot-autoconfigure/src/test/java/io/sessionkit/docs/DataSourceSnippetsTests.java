package io.sessionkit.docs;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.ConfigurationPropertiesAutoConfiguration;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.PropertySource;
import org.springframework.core.io.ByteArrayResource;

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

	private static PropertySource<?> yaml() throws IOException {
		Matcher block = Pattern.compile("```yaml\n(app:\n.*?)```", Pattern.DOTALL).matcher(Files.readString(PAGE));
		assertThat(block.find()).isTrue();
		ByteArrayResource resource = new ByteArrayResource(block.group(1).getBytes(StandardCharsets.UTF_8));
		return new YamlPropertySourceLoader().load("application.yml", resource).get(0);
	}

}
