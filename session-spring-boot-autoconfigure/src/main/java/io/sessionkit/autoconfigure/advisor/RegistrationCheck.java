package io.sessionkit.autoconfigure.advisor;

import io.sessionkit.autoconfigure.SessionKitProperties;
import io.sessionkit.autoconfigure.check.AtStart;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.core.env.Environment;

/**
 * Warns that no client has the session advisor by itself, since Spring AI is told to
 * configure no builder of clients: their calls would have no session, without an error.
 */
final class RegistrationCheck extends AtStart {

	private static final Log logger = LogFactory.getLog(RegistrationCheck.class);

	private static final String CLIENT = "spring.ai.chat.client.enabled";

	private final ListableBeanFactory beans;

	private final Environment environment;

	RegistrationCheck(ListableBeanFactory beans, Environment environment) {
		this.beans = beans;
		this.environment = environment;
	}

	@Override
	protected void run() {
		if (!this.environment.getProperty(CLIENT, Boolean.class, true) && !isBuilderThere()) {
			logger.warn(
					"'" + CLIENT + "' is false, so no ChatClient has the session advisor by itself. Give it to each of"
							+ " them with defaultAdvisors(sessionAdvisor), and set '"
							+ SessionKitProperties.AUTO_REGISTER + "' to false.");
		}
	}

	private boolean isBuilderThere() {
		return BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beans, ChatClient.Builder.class, true,
				false).length > 0;
	}

}
