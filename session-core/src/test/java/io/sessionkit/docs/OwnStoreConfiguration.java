package io.sessionkit.docs;

import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class OwnStoreConfiguration {

	@Bean
	SessionStore sessionStore(StoreOptions options) {
		return new SimpleSessionStore(options);
	}

}
