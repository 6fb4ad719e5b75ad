package io.sessionkit.autoconfigure.observation;

import io.sessionkit.autoconfigure.SessionKitProperties;
import io.sessionkit.autoconfigure.advisor.SessionAdvisorAutoConfiguration;
import io.sessionkit.internal.door.StoreGuard;
import io.sessionkit.store.SessionStore;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

/**
 * {@link AutoConfiguration Auto-configuration} of the health of the session store.
 */
@AutoConfiguration(after = SessionAdvisorAutoConfiguration.class)
@ConditionalOnClass({ HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class })
@ConditionalOnBean({ SessionStore.class, SessionKitProperties.class })
public final class SessionHealthAutoConfiguration {

	@Bean
	@ConditionalOnEnabledHealthIndicator("sessionkit")
	@ConditionalOnMissingBean(name = "sessionKitHealthIndicator")
	HealthIndicator sessionKitHealthIndicator(SessionStore store, SessionKitProperties properties) {
		return new SessionStoreHealthIndicator(StoreGuard.unguarded(store), properties.observation().healthTimeout());
	}

}
