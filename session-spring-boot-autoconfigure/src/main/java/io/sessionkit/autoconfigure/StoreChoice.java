package io.sessionkit.autoconfigure;

import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.sessionkit.autoconfigure.SessionKitProperties.StoreType;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;

/**
 * Which store the application gets: the one that it names, else the one that it has
 * something for. Where that is not clear it refuses to guess, since a store that was
 * guessed wrong loses sessions.
 */
final class StoreChoice {

	private static final String REDIS_CONNECTION_FACTORY = "org.springframework.data.redis.connection.RedisConnectionFactory";

	/** One class of each library that the JDBC store needs. */
	private static final List<String> JDBC_CLASSES = List.of("org.springframework.jdbc.core.JdbcOperations",
			"org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer");

	private static final String USE_MEMORY = "set '" + SessionKitProperties.STORE_TYPE
			+ "' to 'memory' for sessions that are forgotten on restart";

	private final ConfigurableListableBeanFactory beans;

	private final @Nullable ClassLoader classLoader;

	private final @Nullable StoreType named;

	private StoreChoice(ConfigurableListableBeanFactory beans, @Nullable ClassLoader classLoader,
			@Nullable StoreType named) {
		this.beans = beans;
		this.classLoader = classLoader;
		this.named = named;
	}

	static StoreChoice of(ConditionContext context) {
		ConfigurableListableBeanFactory beans = context.getBeanFactory();
		Assert.state(beans != null, "The store is chosen when the beans are known");
		StoreType named = Binder.get(context.getEnvironment())
			.bind(SessionKitProperties.STORE_TYPE, StoreType.class)
			.orElse(null);
		return new StoreChoice(beans, context.getClassLoader(), named);
	}

	/**
	 * The type of the store.
	 * @return memory or jdbc
	 * @throws ConfigurationRefusedException if there is no store for the application
	 */
	StoreType type() {
		if (this.named == null) {
			return chosen();
		}
		return switch (this.named) {
			case MEMORY -> StoreType.MEMORY;
			case JDBC -> jdbc(dataSources());
			case REDIS -> throw ConfigurationRefusedException.of(SessionKitProperties.STORE_TYPE, "redis",
					"This version has no Redis store. Write 'jdbc' or 'memory'.");
		};
	}

	private StoreType chosen() {
		List<String> dataSources = dataSources();
		List<String> redis = redisConnectionFactories();
		if (redis.isEmpty()) {
			return dataSources.isEmpty() ? StoreType.MEMORY : jdbc(dataSources);
		}
		if (dataSources.isEmpty()) {
			throw new ConfigurationRefusedException(
					"The application has a RedisConnectionFactory " + redis
							+ " and no DataSource, and this version has no Redis store.",
					"Add a DataSource and set '" + SessionKitProperties.STORE_TYPE + "' to 'jdbc', or " + USE_MEMORY
							+ ".");
		}
		throw new ConfigurationRefusedException(
				"The application has a DataSource " + dataSources + " and a RedisConnectionFactory " + redis
						+ ", so it is not clear where sessions are to be kept.",
				"Set '" + SessionKitProperties.STORE_TYPE
						+ "' to 'jdbc' for the DataSource (this version has no Redis store), or " + USE_MEMORY + ".");
	}

	private StoreType jdbc(List<String> dataSources) {
		refuseMissingLibrary();
		if (dataSources.isEmpty()) {
			throw new ConfigurationRefusedException(
					"The property '" + SessionKitProperties.STORE_TYPE
							+ "' is 'jdbc', but the application has no DataSource.",
					"Set 'spring.datasource.url' and add the JDBC driver of the database, or define a DataSource bean.");
		}
		if (!hasSingleCandidate(dataSources)) {
			throw new ConfigurationRefusedException(
					"Sessions are to be kept in a database, but the application has several DataSources " + dataSources
							+ " and none of them is the primary one.",
					"Mark one of them @Primary, define a SessionStore bean on the one to use, or " + USE_MEMORY + ".");
		}
		return StoreType.JDBC;
	}

	private void refuseMissingLibrary() {
		List<String> missing = JDBC_CLASSES.stream()
			.filter((name) -> !ClassUtils.isPresent(name, this.classLoader))
			.toList();
		if (!missing.isEmpty()) {
			throw new ConfigurationRefusedException(
					"Sessions are to be kept in a database, but the libraries for it are not on the classpath: "
							+ missing + " not found.",
					"Add the dependency org.springframework.boot:spring-boot-starter-jdbc, or " + USE_MEMORY + ".");
		}
	}

	private List<String> dataSources() {
		return candidates(DataSource.class);
	}

	private List<String> redisConnectionFactories() {
		if (!ClassUtils.isPresent(REDIS_CONNECTION_FACTORY, this.classLoader)) {
			return List.of();
		}
		return candidates(ClassUtils.resolveClassName(REDIS_CONNECTION_FACTORY, this.classLoader));
	}

	/**
	 * The beans that could be injected where nothing but the type is asked for.
	 */
	private List<String> candidates(Class<?> type) {
		return Stream.of(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beans, type, true, false))
			.filter((name) -> isNotBarred(name))
			.toList();
	}

	private boolean isNotBarred(String name) {
		return !is(name, (definition) -> !definition.isAutowireCandidate()
				|| definition instanceof AbstractBeanDefinition bean && !bean.isDefaultCandidate());
	}

	private boolean hasSingleCandidate(List<String> names) {
		long primary = names.stream().filter((name) -> is(name, BeanDefinition::isPrimary)).count();
		long regular = names.stream().filter((name) -> !is(name, BeanDefinition::isFallback)).count();
		return names.size() == 1 || primary == 1 || (primary == 0 && regular == 1);
	}

	/** Beans that were registered as objects have no definition, and no marks. */
	private boolean is(String name, Predicate<BeanDefinition> mark) {
		return this.beans.containsBeanDefinition(name) && mark.test(this.beans.getMergedBeanDefinition(name));
	}

}
