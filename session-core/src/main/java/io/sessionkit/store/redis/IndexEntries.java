package io.sessionkit.store.redis;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import io.sessionkit.SessionKey;
import io.sessionkit.store.redis.OwnerIndex.Noted;
import io.sessionkit.store.redis.RedisKeys.Pair;
import org.jspecify.annotations.Nullable;

/**
 * The entries of one session in the indexes of its owner, while it is written. Where all
 * keys are on one server, the script that writes the session writes them too; in a
 * Cluster they are noted before.
 */
final class IndexEntries {

	private final SessionKey key;

	private final RedisKeys keys;

	private final @Nullable OwnerIndex elsewhere;

	private final Set<String> kinds = new LinkedHashSet<>();

	private final List<Noted> noted = new ArrayList<>();

	private boolean session;

	/**
	 * None yet.
	 * @param key which session
	 * @param keys the names of the keys
	 * @param elsewhere the indexes where they may be on another server than the session;
	 * null: all are on one
	 */
	IndexEntries(SessionKey key, RedisKeys keys, @Nullable OwnerIndex elsewhere) {
		this.key = key;
		this.keys = keys;
		this.elsewhere = elsewhere;
	}

	/**
	 * Notes the session in the list of the owner's sessions.
	 * @param timeToLive how long it is to live; null: without end
	 */
	void noteSession(@Nullable Long timeToLive) {
		this.session = true;
		note(this.keys.sessions(this.key.owner()), timeToLive);
	}

	/**
	 * Notes the session in the lists of those that have records of some kinds.
	 * @param more the kinds
	 * @param timeToLive how long it is to live; null: without end
	 */
	void noteKinds(Collection<String> more, @Nullable Long timeToLive) {
		for (String kind : more) {
			if (this.kinds.add(kind)) {
				note(this.keys.records(this.key.owner(), kind), timeToLive);
			}
		}
	}

	private void note(Pair index, @Nullable Long timeToLive) {
		if (this.elsewhere != null) {
			this.noted.add(this.elsewhere.touch(index, this.key.id(), timeToLive));
		}
	}

	/**
	 * The indexes, in the order of the arguments; without that of the sessions for a
	 * record.
	 */
	List<Pair> indexes() {
		List<Pair> indexes = new ArrayList<>();
		if (this.session) {
			indexes.add(this.keys.sessions(this.key.owner()));
		}
		this.kinds.forEach((kind) -> indexes.add(this.keys.records(this.key.owner(), kind)));
		return indexes;
	}

	boolean haveSession() {
		return this.session;
	}

	Set<String> kinds() {
		return this.kinds;
	}

	/**
	 * The oldest of the entries, by the clocks of the servers; null if they are written
	 * now.
	 */
	@Nullable Long at() {
		return this.noted.stream().map(Noted::at).min(Long::compare).orElse(null);
	}

	/**
	 * Gives the entries the life that the session has, whether it was written or not:
	 * what was noted before was only what should be.
	 * @param exists whether there is a session
	 * @param timeToLive how long it lives; null: without end
	 */
	void settle(boolean exists, @Nullable Long timeToLive) {
		OwnerIndex index = this.elsewhere;
		if (index == null) {
			return;
		}
		if (exists) {
			this.noted.forEach((each) -> index.settle(each, timeToLive));
		}
		else {
			this.noted.forEach((each) -> index.forget(each.index(), each.id(), each.at()));
		}
	}

}
