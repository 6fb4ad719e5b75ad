package io.sessionkit.autoconfigure.advisor;

import io.sessionkit.autoconfigure.SessionKitProperties;
import io.sessionkit.autoconfigure.internal.AtStart;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.core.env.Environment;

/**
 * Warns that no client has the session advisor by itself, since Spring AI is told to
 * configure no builder of clients: their calls would have no session, without an error.
 * Builders of the application do not have it either, unless they apply the customizers
 * themselves.
 */
final class RegistrationCheck extends AtStart {

	private static final Log logger = LogFactory.getLog(RegistrationCheck.class);

	private static final String CLIENT = "spring.ai.chat.client.enabled";

	private final Environment environment;

	RegistrationCheck(Environment environment) {
		this.environment = environment;
	}

	@Override
	protected void run() {
		if (!this.environment.getProperty(CLIENT, Boolean.class, true)) {
			logger.warn("'" + CLIENT + "' is false, so no ChatClient has the session advisor by itself, nor has one of"
					+ " a ChatClient.Builder bean of the application unless that applies the ChatClientBuilderCustomizer"
					+ " beans. Give it to each of them with defaultAdvisors(sessionAdvisor), and set '"
					+ SessionKitProperties.AUTO_REGISTER + "' to false. Or leave '" + CLIENT
					+ "' out, and build them with the ChatClientBuilderConfigurer.");
		}
	}

}
