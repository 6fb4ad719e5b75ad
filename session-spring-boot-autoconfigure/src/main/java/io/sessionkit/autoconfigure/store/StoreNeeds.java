package io.sessionkit.autoconfigure.store;

import java.util.List;
import java.util.Optional;

import io.sessionkit.autoconfigure.StoreProperties.StoreType;

/**
 * The requirements of a store on a server, with the texts for failure reports. Classes
 * are given by name, since they may be missing.
 *
 * @param type the type of the store
 * @param place the place of the sessions, for a report
 * @param connections the class of the bean that provides connections
 * @param addresses the properties that say where the server is
 * @param libraries one class of each library
 * @param dependency the dependency that brings the libraries
 * @param cure the instructions to get the bean
 * @param choice the instructions to choose one of several beans that is not primary
 */
record StoreNeeds(StoreType type, String place, String connections, List<String> addresses, List<String> libraries,
		String dependency, String cure, String choice) {

	/** The class of a bean beside which Spring Boot makes no DataSource. */
	static final String R2DBC = "io.r2dbc.spi.ConnectionFactory";

	static final StoreNeeds JDBC = new StoreNeeds(StoreType.JDBC, "in a database", "javax.sql.DataSource",
			List.of("spring.datasource.url", "spring.datasource.jndi-name"),
			List.of("org.springframework.jdbc.core.JdbcOperations",
					"org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer"),
			"org.springframework.boot:spring-boot-starter-jdbc",
			"Set 'spring.datasource.url' and add the JDBC driver of the database, or define a DataSource bean.",
			"mark the one for sessions @SessionKitDataSource");

	static final StoreNeeds REDIS = new StoreNeeds(StoreType.REDIS, "in Redis",
			"org.springframework.data.redis.connection.RedisConnectionFactory",
			List.of("spring.data.redis.url", "spring.data.redis.host", "spring.data.redis.cluster.nodes",
					"spring.data.redis.sentinel.master"),
			List.of("org.springframework.data.redis.core.RedisTemplate"),
			"org.springframework.boot:spring-boot-starter-data-redis",
			"Add the dependency org.springframework.boot:spring-boot-starter-data-redis and set"
					+ " 'spring.data.redis.host', or define a RedisConnectionFactory bean.",
			"define a RedisSessionStore bean on the one to use");

	/** All stores on a server. A store that joins is added here, and to the types. */
	static final List<StoreNeeds> ALL = List.of(JDBC, REDIS);

	/**
	 * Returns the requirements of the store of a type.
	 * @return the requirements; empty for the store in memory, which needs nothing
	 */
	static Optional<StoreNeeds> of(StoreType type) {
		return ALL.stream().filter((needs) -> needs.type() == type).findFirst();
	}

	/**
	 * Returns the instructions to have the bean known before it is made.
	 */
	String declaration() {
		return "Let the method of the bean return the type " + bean() + ", and not that of a FactoryBean that makes it"
				+ ((this.type == StoreType.JDBC) ? "; with JNDI, set 'spring.datasource.jndi-name' instead." : ".");
	}

	/**
	 * Returns the simple name of the class of the bean.
	 */
	String bean() {
		return this.connections.substring(this.connections.lastIndexOf('.') + 1);
	}

}
