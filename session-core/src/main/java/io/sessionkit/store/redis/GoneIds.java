package io.sessionkit.store.redis;

import java.util.List;

import io.sessionkit.store.redis.RedisKeys.Pair;

/**
 * Removes the ids of expired sessions from the indexes of all owners. The server deletes
 * the sessions by itself; their ids would otherwise stay until the owner writes again.
 * Safe for use by many threads and processes.
 */
final class GoneIds {

	private static final int MOST_CALLS = 1000;

	private final RedisScripts scripts;

	private final RedisKeys keys;

	private final KeyWalk walk;

	GoneIds(RedisScripts scripts, RedisKeys keys) {
		this.scripts = scripts;
		this.keys = keys;
		this.walk = new KeyWalk(scripts, keys, "{o:*}:*x*");
	}

	/**
	 * Removes ids.
	 * @param limit how many to remove at most
	 * @return how many were removed
	 */
	int remove(int limit) {
		return this.walk.remove(limit, MOST_CALLS, this::removeFrom);
	}

	private int removeFrom(List<String> names, int limit) {
		int removed = 0;
		for (String name : names) {
			Pair index = (removed < limit) ? this.keys.indexOfExpiries(name) : null;
			if (index != null) {
				Reply reply = this.scripts.repeat(Script.PURGE, index, new Arguments().with(limit - removed));
				removed += (int) reply.number(0);
			}
		}
		return removed;
	}

}
