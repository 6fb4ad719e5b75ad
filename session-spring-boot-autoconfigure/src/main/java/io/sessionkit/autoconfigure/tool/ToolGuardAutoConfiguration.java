package io.sessionkit.autoconfigure.tool;

import io.sessionkit.autoconfigure.SessionKitProperties;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/**
 * {@link AutoConfiguration Auto-configuration} that refuses tools that need an approval
 * in calls in which nobody would be asked, whether or not SessionKit is enabled.
 */
@AutoConfiguration(afterName = "io.sessionkit.autoconfigure.advisor.SessionAdvisorAutoConfiguration")
@EnableConfigurationProperties(SessionKitProperties.class)
public final class ToolGuardAutoConfiguration {

	@Bean
	static ToolGuard sessionKitToolGuard(BeanFactory beans) {
		return new ToolGuard(beans);
	}

	@Bean
	ToolGuardReport sessionKitToolGuardReport(ConfigurableListableBeanFactory beans, SessionKitProperties properties) {
		return new ToolGuardReport(beans, properties);
	}

}
