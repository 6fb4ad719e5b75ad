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
 * The entries of one session in the indexes of its owner, while the session is written.
 * If all keys are on one server, the script that writes the session writes them too; in a
 * Cluster they are written before.
 */
final class IndexEntries {

	private final SessionKey key;

	private final RedisKeys keys;

	private final @Nullable OwnerIndex elsewhere;

	private final Set<String> kinds = new LinkedHashSet<>();

	private final List<Noted> noted = new ArrayList<>();

	private boolean session;

	/**
	 * Creates an empty set of entries.
	 * @param key the session
	 * @param keys the names of the keys
	 * @param elsewhere the indexes if they may be on another server than the session;
	 * null if all keys are on one server
	 */
	IndexEntries(SessionKey key, RedisKeys keys, @Nullable OwnerIndex elsewhere) {
		this.key = key;
		this.keys = keys;
		this.elsewhere = elsewhere;
	}

	/**
	 * Adds the session to the list of the owner's sessions.
	 * @param timeToLive how long it lives; null if it never expires
	 */
	void noteSession(@Nullable Long timeToLive) {
		this.session = true;
		note(this.keys.sessions(this.key.owner()), timeToLive);
	}

	/**
	 * Adds the session to the lists of the sessions that have records of some kinds.
	 * @param more the kinds
	 * @param timeToLive how long it lives; null if it never expires
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
	 * Returns the indexes, in the order of the arguments; for a record, without the index
	 * of the sessions. The indexes of the records of all owners come last.
	 */
	List<Pair> indexes() {
		List<Pair> indexes = new ArrayList<>();
		if (this.session) {
			indexes.add(this.keys.sessions(this.key.owner()));
		}
		this.kinds.forEach((kind) -> indexes.add(this.keys.records(this.key.owner(), kind)));
		indexes.add(this.keys.shared());
		return indexes;
	}

	/**
	 * Returns how much older than its session an entry of the sessions may be, in
	 * microseconds.
	 */
	long lag() {
		return OwnerIndex.lag(this.elsewhere == null);
	}

	boolean haveSession() {
		return this.session;
	}

	Set<String> kinds() {
		return this.kinds;
	}

	/**
	 * Returns the time of the oldest entry, by the clocks of the servers; null if the
	 * entries are written now.
	 */
	@Nullable Long at() {
		return this.noted.stream().map(Noted::at).min(Long::compare).orElse(null);
	}

	/**
	 * Gives the entries the expiry of the session, whether it was written or not: until
	 * now they only have the expiry that was intended.
	 * @param exists whether there is a session
	 * @param timeToLive how long it lives; null if it never expires
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
