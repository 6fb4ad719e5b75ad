package io.sessionkit.autoconfigure.observation;

import io.sessionkit.access.SessionAccess;
import io.sessionkit.autoconfigure.SessionKitProperties;
import io.sessionkit.autoconfigure.advisor.SessionAdvisorAutoConfiguration;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.store.SessionStore;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * {@link AutoConfiguration Auto-configuration} of the endpoint that shows sessions. Its
 * name is {@code sessions}, or {@code sessionkit} where Spring Session has an endpoint of
 * that name.
 */
@AutoConfiguration(after = SessionAdvisorAutoConfiguration.class)
@ConditionalOnClass({ Endpoint.class, ConditionalOnAvailableEndpoint.class })
@ConditionalOnBean({ SessionStore.class, Approvals.class, SessionKitProperties.class })
public final class SessionEndpointAutoConfiguration {

	/** The endpoint of Spring Session. */
	private static final String TAKEN = "org.springframework.boot.session.actuate.endpoint.SessionsEndpoint";

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnMissingClass(TAKEN)
	static class SessionsConfiguration {

		@Bean
		@ConditionalOnAvailableEndpoint
		SessionsEndpoint sessionKitSessionsEndpoint(SessionStore store, Approvals approvals,
				ObjectProvider<SessionAccess> access, SessionKitProperties properties) {
			return new SessionsEndpoint(store, approvals, access.getIfAvailable(SessionAccess::unlimited),
					properties.observation().endpointTexts());
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(name = TAKEN)
	static class SessionKitConfiguration {

		@Bean
		@ConditionalOnAvailableEndpoint
		SessionKitEndpoint sessionKitSessionsEndpoint(SessionStore store, Approvals approvals,
				ObjectProvider<SessionAccess> access, SessionKitProperties properties) {
			return new SessionKitEndpoint(store, approvals, access.getIfAvailable(SessionAccess::unlimited),
					properties.observation().endpointTexts());
		}

	}

}
