package io.sessionkit.store.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

import io.sessionkit.store.redis.RedisKeys.Pair;

/**
 * Removes the ids of expired sessions from the indexes of all owners. The server deletes
 * the sessions by itself; their ids would otherwise stay until the owner writes again.
 * <p>
 * It finds the indexes with SCAN and goes through all keys of the server, with one short
 * call for each thousand of them. If that takes too many calls, the next run continues
 * where this one stopped. Safe for use by many threads and processes.
 */
final class GoneIds {

	private static final int KEYS_PER_CALL = 1000;

	private static final int MOST_CALLS = 1000;

	private static final Pattern GLOB = Pattern.compile("[*?\\[\\]\\\\]");

	private final RedisScripts scripts;

	private final RedisKeys keys;

	/** The place at which the search continues, by server. */
	private final Map<String, String> cursors = new ConcurrentHashMap<>();

	GoneIds(RedisScripts scripts, RedisKeys keys) {
		this.scripts = scripts;
		this.keys = keys;
	}

	/**
	 * Removes ids.
	 * @param limit how many to remove at most
	 * @return how many were removed
	 */
	int remove(int limit) {
		int removed = 0;
		for (Pair server : this.scripts.servers(this.keys)) {
			removed += removeOn(server, limit - removed);
		}
		return removed;
	}

	private int removeOn(Pair server, int limit) {
		String name = new String(server.first(), StandardCharsets.UTF_8);
		String cursor = this.cursors.getOrDefault(name, "0");
		int removed = 0;
		for (int call = 0; call < MOST_CALLS && removed < limit; call++) {
			Reply found = this.scripts.read(Script.SCAN, List.of(server),
					new Arguments().with(cursor).with(pattern()).with(KEYS_PER_CALL));
			removed += removeFrom(found.list(1), limit - removed);
			// otherwise these keys may hold more ids
			cursor = (removed < limit) ? found.requiredText(0) : cursor;
			this.cursors.put(name, cursor);
			if (cursor.equals("0")) {
				break;
			}
		}
		return removed;
	}

	private int removeFrom(Reply names, int limit) {
		int removed = 0;
		for (int i = 0; i < names.size() && removed < limit; i++) {
			Pair index = this.keys.indexOfExpiries(names.requiredText(i));
			if (index != null) {
				Reply reply = this.scripts.repeat(Script.PURGE, index, new Arguments().with(limit - removed));
				removed += (int) reply.number(0);
			}
		}
		return removed;
	}

	private String pattern() {
		return GLOB.matcher(this.keys.prefix()).replaceAll("\\\\$0") + "{o:*}:*x*";
	}

}
