package io.sessionkit.autoconfigure.store;

import java.util.List;
import java.util.Optional;

import io.sessionkit.autoconfigure.StoreProperties.StoreType;
import org.jspecify.annotations.Nullable;

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
 * @param cures the instructions to get the bean
 * @param rival what Spring Boot makes instead of the bean; null if there is no such thing
 */
record StoreNeeds(StoreType type, String place, String connections, List<String> addresses, List<String> libraries,
		String dependency, Cures cures, @Nullable Rival rival) {

	/**
	 * The instructions for a bean that is not there as it should be.
	 *
	 * @param missing for one that is missing
	 * @param choice for several of which none is primary
	 * @param otherwise for one that cannot be known before it is made, if its method
	 * cannot say what it makes; empty if nothing helps
	 */
	record Cures(String missing, String choice, String otherwise) {
	}

	/**
	 * A bean beside which Spring Boot makes none of those that provide connections.
	 *
	 * @param bean its class
	 * @param name its name, for a report
	 * @param cure the instructions to have both
	 */
	record Rival(String bean, String name, String cure) {
	}

	private static final Rival R2DBC = new Rival("io.r2dbc.spi.ConnectionFactory", "an R2DBC ConnectionFactory",
			"Add the dependency org.springframework.boot:spring-boot-starter-jdbc and the JDBC driver of the database,"
					+ " and define a DataSource bean, such as DataSourceBuilder.create().url(..).build(): there is no"
					+ " store on R2DBC, and beside its ConnectionFactory Spring Boot makes no DataSource, whatever"
					+ " 'spring.datasource.url' says.");

	static final StoreNeeds JDBC = new StoreNeeds(StoreType.JDBC, "in a database", "javax.sql.DataSource",
			List.of("spring.datasource.url", "spring.datasource.jndi-name"),
			List.of("org.springframework.jdbc.core.JdbcOperations",
					"org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer"),
			"org.springframework.boot:spring-boot-starter-jdbc",
			new Cures(
					"Set 'spring.datasource.url' and add the JDBC driver of the database, or define a DataSource bean.",
					"mark the one for sessions @SessionKitDataSource",
					"; with JNDI, set 'spring.datasource.jndi-name' instead"),
			R2DBC);

	static final StoreNeeds REDIS = new StoreNeeds(StoreType.REDIS, "in Redis",
			"org.springframework.data.redis.connection.RedisConnectionFactory",
			List.of("spring.data.redis.url", "spring.data.redis.host", "spring.data.redis.cluster.nodes",
					"spring.data.redis.sentinel.master"),
			List.of("org.springframework.data.redis.core.RedisTemplate"),
			"org.springframework.boot:spring-boot-starter-data-redis",
			new Cures(
					"Add the dependency org.springframework.boot:spring-boot-starter-data-redis and set"
							+ " 'spring.data.redis.host', or define a RedisConnectionFactory bean.",
					"define a RedisSessionStore bean on the one to use", ""),
			null);

	/** All stores that need a connection. */
	static final List<StoreNeeds> ALL = List.of(JDBC, REDIS);

	/**
	 * Returns the requirements of the store of a type.
	 * @return the requirements; empty for a store that needs no connection
	 */
	static Optional<StoreNeeds> of(StoreType type) {
		return ALL.stream().filter((needs) -> needs.type() == type).findFirst();
	}

	/**
	 * Returns the instructions to have the bean known before it is made.
	 */
	String declaration() {
		return "Let the method of the bean return the type " + bean() + ", and not that of a FactoryBean that makes it"
				+ this.cures.otherwise() + ".";
	}

	/**
	 * Returns the simple name of the class of the bean.
	 */
	String bean() {
		return this.connections.substring(this.connections.lastIndexOf('.') + 1);
	}

}
