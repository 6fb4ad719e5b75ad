package io.sessionkit.autoconfigure.store;

import javax.sql.DataSource;

import io.sessionkit.autoconfigure.SessionKitProperties;
import io.sessionkit.autoconfigure.StoreProperties.Jdbc;
import io.sessionkit.autoconfigure.StoreProperties.StoreType;
import io.sessionkit.autoconfigure.check.ConditionalOnSwitch;
import io.sessionkit.autoconfigure.internal.StoreLife;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.jdbc.JdbcSessionStore;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.store.redis.RedisSessionStore;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.init.dependency.DatabaseInitializationDependencyConfigurer;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.RedisOperations;
import org.springframework.jdbc.core.JdbcOperations;

/**
 * {@link AutoConfiguration Auto-configuration} of the session store: the one that the
 * application names or has a connection for, unless it defines a {@link SessionStore}
 * bean.
 */
@AutoConfiguration(after = MessageCodecAutoConfiguration.class,
		afterName = { "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
				"org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration" })
@ConditionalOnSwitch(SessionKitProperties.ENABLED)
@ConditionalOnMissingBean(SessionStore.class)
public final class SessionStoreAutoConfiguration {

	@Bean
	UnusedMark sessionKitUnusedMark(ConfigurableListableBeanFactory beans, SessionKitProperties properties) {
		return new UnusedMark(beans, properties.store());
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnStoreType(StoreType.MEMORY)
	static final class MemoryConfiguration {

		@Bean
		InMemorySessionStore sessionKitStore(StoreOptions options, SessionKitProperties properties) {
			properties.store().refuseOtherThan(StoreType.MEMORY);
			return new InMemorySessionStore(options, properties.store().memory().maxSessions());
		}

		@Bean
		UnseenConnections sessionKitUnseenConnections(ConfigurableListableBeanFactory beans,
				SessionKitProperties properties, Environment environment) {
			return new UnseenConnections(beans, properties.store(), environment);
		}

	}

	/**
	 * Configures the JDBC store. The condition on the classes comes first, before the
	 * imported class is looked up; the condition on the store type reports classes that
	 * are missing.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ JdbcOperations.class, DataSourceScriptDatabaseInitializer.class })
	@ConditionalOnStoreType(StoreType.JDBC)
	@Import(DatabaseInitializationDependencyConfigurer.class)
	static final class JdbcConfiguration {

		@Bean
		StoreDataSource sessionKitStoreDataSource(@SessionKitDataSource ObjectProvider<DataSource> marked,
				ObjectProvider<DataSource> others) {
			return StoreDataSource.of(marked, others);
		}

		@Bean
		SessionSchemaInitializer sessionKitSchemaInitializer(StoreDataSource database,
				SessionKitProperties properties) {
			properties.store().refuseOtherThan(StoreType.JDBC);
			return new SessionSchemaInitializer(database.used(), properties.store().jdbc());
		}

		@Bean
		@DependsOnDatabaseInitialization
		JdbcSessionStore sessionKitStore(StoreDataSource database, StoreOptions options,
				SessionKitProperties properties) {
			Jdbc jdbc = properties.store().jdbc();
			JdbcSessionStore store = new JdbcSessionStore(database.used(), options, jdbc.tablePrefix());
			new JdbcStoreCheck(database.used(), jdbc).check(store);
			return store;
		}

		@Bean
		StoreLife sessionKitStoreLife(StoreDataSource database) {
			return database::isInMemory;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(RedisOperations.class)
	@ConditionalOnStoreType(StoreType.REDIS)
	static final class RedisConfiguration {

		@Bean
		RedisSessionStore sessionKitStore(RedisConnectionFactory connections, StoreOptions options,
				SessionKitProperties properties) {
			properties.store().refuseOtherThan(StoreType.REDIS);
			RedisSessionStore store = new RedisSessionStore(connections, options,
					properties.store().redis().keyPrefix());
			RedisStoreCheck.check(store);
			return store;
		}

	}

}
