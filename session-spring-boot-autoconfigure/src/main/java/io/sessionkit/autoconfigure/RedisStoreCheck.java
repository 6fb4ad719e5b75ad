package io.sessionkit.autoconfigure;

import io.sessionkit.StoreUnavailableException;
import io.sessionkit.store.redis.RedisSessionStore;

/**
 * Lets the application start only if the Redis of its store can be reached and runs the
 * scripts of this version, rather than fail with the first turn.
 */
final class RedisStoreCheck {

	private RedisStoreCheck() {
	}

	/**
	 * Does nothing if the store can be used. The client's own message is not passed on:
	 * there may be a URL with a password in it.
	 * @throws ConfigurationRefusedException if not
	 */
	static void check(RedisSessionStore store) {
		try {
			store.verifyServer();
		}
		catch (StoreUnavailableException ex) {
			throw new ConfigurationRefusedException(ex.getMessage() + root(ex),
					"Start Redis, or correct 'spring.data.redis.host' and 'spring.data.redis.port', or"
							+ " 'spring.data.redis.url', and 'spring.data.redis.username' and"
							+ " 'spring.data.redis.password'. The user must be allowed EVALSHA and EVAL."
							+ " With debug=true the log has the client's own message.",
					ex);
		}
	}

	private static String root(Throwable ex) {
		Throwable root = ex;
		while (root.getCause() != null && root.getCause() != root) {
			root = root.getCause();
		}
		return (root != ex) ? " The cause was " + root.getClass().getName() + "." : "";
	}

}
