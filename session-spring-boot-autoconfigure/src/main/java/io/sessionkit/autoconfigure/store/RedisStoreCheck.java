package io.sessionkit.autoconfigure.store;

import io.sessionkit.autoconfigure.ConfigurationRefusedException;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.redis.RedisSessionStore;

/**
 * Checks at start that the Redis of the store can be reached, runs the scripts of this
 * version and lets them write. Without this check the first turn would fail.
 */
final class RedisStoreCheck {

	private RedisStoreCheck() {
	}

	/**
	 * Checks that the store can be used. The client's own message is not passed on, since
	 * a URL in it may contain a password.
	 * @throws ConfigurationRefusedException if it cannot be used
	 */
	static void check(RedisSessionStore store) {
		try {
			store.verifyServer();
		}
		catch (StoreUnavailableException ex) {
			if (isNotStarted(ex)) {
				throw new ConfigurationRefusedException(String.valueOf(ex.getMessage()),
						"The store is checked when it is created: let the factory start early, as it does by"
								+ " default (setEarlyStartup(true)).",
						ex);
			}
			throw new ConfigurationRefusedException(ex.getMessage() + root(ex),
					whatToDo(String.valueOf(ex.getMessage())), ex);
		}
	}

	private static String whatToDo(String refusal) {
		if (refusal.contains("NOPERM")) {
			return "Allow the user, 'spring.data.redis.username', EVALSHA, EVAL and the commands of the scripts, which"
					+ " docs/configuration.md lists, and all keys that begin with"
					+ " 'sessionkit.store.redis.key-prefix' (~sessionkit:* for the default).";
		}
		if (refusal.contains("it is a replica")) {
			return "Name the primary server in 'spring.data.redis.host' and 'spring.data.redis.port', or in"
					+ " 'spring.data.redis.url'. If Sentinel has named this one, start again when its failover is over.";
		}
		return "Start Redis, or correct 'spring.data.redis.host' and 'spring.data.redis.port', or"
				+ " 'spring.data.redis.url', and 'spring.data.redis.username' and 'spring.data.redis.password'."
				+ " 'spring.data.redis.database' must be one that the server has, and"
				+ " 'spring.data.redis.ssl.enabled' must say whether its port takes TLS. The server must be one of"
				+ " version 6.2 or newer that takes writes. With debug=true the log has the client's own message.";
	}

	/** Returns whether the factory itself has refused to give a connection. */
	private static boolean isNotStarted(StoreUnavailableException ex) {
		return ex.getCause() != null && ex.getCause().getCause() instanceof IllegalStateException;
	}

	private static String root(Throwable ex) {
		Throwable root = ex;
		while (root.getCause() != null && root.getCause() != root) {
			root = root.getCause();
		}
		return (root != ex) ? " The cause was " + root.getClass().getName() + "." : "";
	}

}
