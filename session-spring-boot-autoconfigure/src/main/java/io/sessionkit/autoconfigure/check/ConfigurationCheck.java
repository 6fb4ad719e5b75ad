package io.sessionkit.autoconfigure.check;

import java.util.Set;

import io.sessionkit.autoconfigure.ConfigurationRefusedException;
import io.sessionkit.autoconfigure.SessionKitProperties;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;

/**
 * Refuses settings below {@code sessionkit} that would have no effect, or a different
 * effect than they seem to have. It does so even if SessionKit is disabled, since a typo
 * next to the switch would otherwise go unnoticed.
 * <p>
 * Conditions run the check first, before a property decides anything. An application that
 * was processed ahead of time no longer has conditions, so the check is also a bean.
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
	 * @return the unknown names that probably belong to another product
	 * @throws ConfigurationRefusedException if a name or a value is refused
	 */
	static Set<String> run(Environment environment) {
		Set<String> foreign = (environment instanceof ConfigurableEnvironment configurable)
				? UnknownNames.refuse(configurable) : Set.of();
		WrittenValues.refuse(environment);
		return foreign;
	}

}
