package io.sessionkit.store.redis;

import java.util.Optional;
import java.util.Properties;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Finds out what a server does when it is full: unless it refuses writes, it deletes keys
 * one by one, and a session has several.
 */
final class EvictionPolicy {

	private static final String LIMIT = "maxmemory";

	private static final String POLICY = LIMIT + "_policy";

	private static final String REFUSES_WRITES = "noeviction";

	private EvictionPolicy() {
	}

	/**
	 * Returns the policy by which the server, or one of a Cluster, deletes keys. A server
	 * without a limit deletes none.
	 * @return the policy; empty if none does, or if they do not say
	 */
	static Optional<String> of(RedisConnectionFactory connections) {
		Properties memory = memory(connections);
		// in a Cluster each name begins with that of a server
		return memory.stringPropertyNames()
			.stream()
			.filter((name) -> name.endsWith(POLICY) && hasLimit(memory, name))
			.map(memory::getProperty)
			.filter((policy) -> !policy.equals(REFUSES_WRITES))
			.findFirst();
	}

	private static boolean hasLimit(Properties memory, String policy) {
		return !"0".equals(memory.getProperty(policy.substring(0, policy.length() - POLICY.length()) + LIMIT));
	}

	private static Properties memory(RedisConnectionFactory connections) {
		try (RedisConnection connection = connections.getConnection()) {
			Properties memory = connection.serverCommands().info("memory");
			return (memory != null) ? memory : new Properties();
		}
		catch (RuntimeException ex) {
			// a user or a proxy need not be allowed to ask, and the store works without
			return new Properties();
		}
	}

}
