package io.sessionkit.autoconfigure.store;

import io.sessionkit.autoconfigure.ConfigurationRefusedException;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.redis.RedisSessionStore;

/**
 * Checks at start that the Redis of the store can be reached and runs the scripts of this
 * version. Without this check the first turn would fail.
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
