package io.sessionkit.store.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.redis.RedisKeys.Pair;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Looks for what is to be removed in the keys of a pattern. It finds them with SCAN and
 * goes through all keys of each server, with one short call for each thousand of them. If
 * that takes too many calls, the next run continues where this one stopped. Safe for use
 * by many threads and processes.
 */
final class KeyWalk {

	private static final Log logger = LogFactory.getLog(KeyWalk.class);

	private static final int KEYS_PER_CALL = 1000;

	private static final Pattern GLOB = Pattern.compile("[*?\\[\\]\\\\]");

	private final RedisScripts scripts;

	private final RedisKeys keys;

	private final String pattern;

	/** The place at which the search continues, by server. */
	private final Map<String, String> cursors = new ConcurrentHashMap<>();

	/** The servers that have failed since the search was last at an end. */
	private final Set<String> failed = ConcurrentHashMap.newKeySet();

	/** True if the failure of a server was logged. */
	private volatile boolean failing;

	/**
	 * Creates a walk that begins at the beginning.
	 * @param pattern the names of the keys behind the prefix, as SCAN takes them
	 */
	KeyWalk(RedisScripts scripts, RedisKeys keys, String pattern) {
		this.scripts = scripts;
		this.keys = keys;
		this.pattern = GLOB.matcher(keys.prefix()).replaceAll("\\\\$0") + pattern;
	}

	/** Removes what is to be removed from some keys. */
	@FunctionalInterface
	interface Removal {

		/**
		 * Removes it.
		 * @param names the names of the keys
		 * @param limit how many to remove at most
		 * @return how many were removed
		 */
		int from(List<String> names, int limit);

	}

	/**
	 * Walks on. A server that cannot be reached, or refuses, is left out until the others
	 * have nothing left: each try may last until a timeout. The first failure is logged.
	 * @param limit how many to remove at most
	 * @param calls how many calls to look for keys on one server
	 * @return how many were removed
	 * @throws StoreUnavailableException if all servers fail
	 */
	int remove(int limit, int calls, Removal removal) {
		int removed = 0;
		List<Pair> servers = this.scripts.servers(this.keys);
		StoreUnavailableException failure = null;
		for (Pair server : servers) {
			try {
				removed += this.failed.contains(name(server)) ? 0 : removeOn(server, limit - removed, calls, removal);
			}
			catch (StoreUnavailableException ex) {
				this.failed.add(name(server));
				failure = ex;
			}
		}
		check(failure, servers.size());
		if (removed < limit) {
			this.failing = !this.failed.isEmpty();
			this.failed.clear();
		}
		return removed;
	}

	/** The caller logs it if all servers fail. */
	private void check(@Nullable StoreUnavailableException failure, int servers) {
		if (failure == null) {
			return;
		}
		if (this.failed.size() >= servers) {
			this.failed.clear();
			throw failure;
		}
		if (!this.failing) {
			logger.warn("What has expired on a server of the Redis Cluster cannot be deleted. It reads as absent;"
					+ " deleting it is tried again. " + failure.getMessage());
		}
		this.failing = true;
	}

	private static String name(Pair server) {
		return new String(server.first(), StandardCharsets.UTF_8);
	}

	private int removeOn(Pair server, int limit, int calls, Removal removal) {
		String name = name(server);
		String cursor = this.cursors.getOrDefault(name, "0");
		int removed = 0;
		for (int call = 0; call < calls && removed < limit; call++) {
			Reply found = this.scripts.read(Script.SCAN, List.of(server),
					new Arguments().with(cursor).with(this.pattern).with(KEYS_PER_CALL));
			removed += removal.from(found.list(1).texts(), limit - removed);
			// otherwise these keys may hold more
			cursor = (removed < limit) ? found.requiredText(0) : cursor;
			this.cursors.put(name, cursor);
			if (cursor.equals("0")) {
				break;
			}
		}
		return removed;
	}

}
