package io.sessionkit.autoconfigure;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/**
 * Checks the properties at start, whether SessionKit is switched on or not, and the
 * version of Spring AI where it is switched on.
 */
@AutoConfiguration(before = MessageCodecAutoConfiguration.class)
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
