package io.sessionkit.store.redis;

import java.util.List;

import io.sessionkit.store.redis.RedisKeys.Pair;

/**
 * Deletes the records that have expired before their session. The server deletes whole
 * sessions by itself; such a record would otherwise stay until somebody reads those of
 * its kind. Safe for use by many threads and processes.
 */
final class ExpiredRecords {

	private static final int MOST_CALLS = 1000;

	/** Behind each of them is a call for each session. */
	private static final int MOST_CALLS_IN_A_CLUSTER = 100;

	private static final int SESSIONS_PER_CALL = 100;

	private final RedisScripts scripts;

	private final RedisKeys keys;

	private final KeyWalk walk;

	ExpiredRecords(RedisScripts scripts, RedisKeys keys) {
		this.scripts = scripts;
		this.keys = keys;
		this.walk = new KeyWalk(scripts, keys, "{*}:r");
	}

	/**
	 * Deletes records.
	 * @param limit how many to delete at most
	 * @return how many were deleted
	 */
	int remove(int limit) {
		return this.walk.remove(limit, this.scripts.haveOneServer() ? MOST_CALLS : MOST_CALLS_IN_A_CLUSTER,
				this::removeFrom);
	}

	private int removeFrom(List<String> names, int limit) {
		int together = this.scripts.haveOneServer() ? SESSIONS_PER_CALL : 1;
		int removed = 0;
		for (int from = 0; from < names.size() && removed < limit; from += together) {
			List<Pair> sessions = names.subList(from, Math.min(names.size(), from + together))
				.stream()
				.map(this.keys::withRecords)
				.toList();
			removed += (int) this.scripts.repeat(Script.SWEEP, sessions, new Arguments().with(limit - removed))
				.number(0);
		}
		return removed;
	}

}
