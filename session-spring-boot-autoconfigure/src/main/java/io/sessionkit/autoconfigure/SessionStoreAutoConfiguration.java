package io.sessionkit.autoconfigure;

import io.sessionkit.autoconfigure.SessionKitProperties.StoreType;
import io.sessionkit.store.InMemorySessionStore;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * The store that the application names or has a connection for, unless it brings a
 * {@link SessionStore} of its own.
 */
@AutoConfiguration(after = MessageCodecAutoConfiguration.class,
		afterName = { "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
				"org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration" })
@ConditionalOnBooleanProperty(name = SessionKitProperties.ENABLED, matchIfMissing = true)
@ConditionalOnMissingBean(SessionStore.class)
public final class SessionStoreAutoConfiguration {

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnStoreType(StoreType.MEMORY)
	static final class MemoryConfiguration {

		@Bean
		InMemorySessionStore sessionStore(StoreOptions options, SessionKitProperties properties) {
			return new InMemorySessionStore(options, properties.store().memory().maxSessions());
		}

	}

}
