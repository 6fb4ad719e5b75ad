package io.sessionkit.autoconfigure.check;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/**
 * {@link AutoConfiguration Auto-configuration} that checks the properties at start,
 * whether or not SessionKit is enabled, and the version of Spring AI if SessionKit is
 * enabled.
 */
@AutoConfiguration(beforeName = "io.sessionkit.autoconfigure.store.MessageCodecAutoConfiguration")
public final class ConfigurationCheckAutoConfiguration {

	@Bean
	static ConfigurationCheck sessionKitConfigurationCheck(Environment environment) {
		return new ConfigurationCheck(environment);
	}

	@Bean
	static SpringAiCheck sessionKitSpringAiCheck(Environment environment) {
		return new SpringAiCheck(environment);
	}

}
