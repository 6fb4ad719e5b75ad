package io.sessionkit.autoconfigure;

import java.util.Set;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;

/**
 * Refuses what is written below {@code sessionkit} and would have no effect, or another
 * one than it seems to have. It also does so where SessionKit is switched off: whoever
 * misspells a name next to the switch wants to know.
 * <p>
 * Conditions ask first, before anything is decided by a property. An application that was
 * processed ahead of time has no conditions any more, so there this is a bean.
 */
final class ConfigurationCheck implements BeanFactoryPostProcessor {

	private static final Log logger = LogFactory.getLog(ConfigurationCheck.class);

	private final Environment environment;

	ConfigurationCheck(Environment environment) {
		this.environment = environment;
	}

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
		Set<String> foreign = run(this.environment);
		if (!foreign.isEmpty()) {
			logger.warn("These names begin as those of SessionKit do, but are none of them, so they have no effect: "
					+ String.join(", ", foreign) + ". If they are somebody else's, name them in '"
					+ SessionKitProperties.IGNORED_NAMES + "'.");
		}
	}

	/**
	 * Checks the properties.
	 * @return names that are unknown and probably somebody else's
	 * @throws ConfigurationRefusedException if something is refused
	 */
	static Set<String> run(Environment environment) {
		Set<String> foreign = (environment instanceof ConfigurableEnvironment configurable)
				? UnknownNames.refuse(configurable) : Set.of();
		WrittenValues.refuse(environment);
		return foreign;
	}

}
