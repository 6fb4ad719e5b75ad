package io.sessionkit.store.redis;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import io.sessionkit.SessionKey;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.redis.OwnerIndex.Noted;
import io.sessionkit.store.redis.RedisKeys.Pair;
import io.sessionkit.store.row.EncodedCommit;
import io.sessionkit.store.row.KeyHash;
import org.jspecify.annotations.Nullable;

/**
 * Writes sessions and their entries in the indexes. Each write has an id, by which its
 * script recognizes it when the driver or {@link RedisScripts} sends it again.
 */
final class SessionWrites {

	private final RedisKeys keys;

	private final RedisScripts scripts;

	private final OwnerIndex index;

	SessionWrites(RedisKeys keys, RedisScripts scripts, OwnerIndex index) {
		this.keys = keys;
		this.scripts = scripts;
		this.index = index;
	}

	CommitResult commit(EncodedCommit encoded) {
		WriteId write = WriteId.next();
		Reply reply = this.scripts.haveOneServer() ? commit(encoded, write, false) : commitAndIndex(encoded, write);
		return Commits.result(encoded.commit(), reply);
	}

	/**
	 * An index is written before the session. How long the session lives is known for
	 * sure when its script has run; until then it lives for good.
	 */
	private Reply commitAndIndex(EncodedCommit encoded, WriteId write) {
		SessionKey key = encoded.commit().key();
		List<Noted> noted = new ArrayList<>();
		kinds(encoded.commit()).forEach((kind) -> noted.add(touchRecords(key, kind)));
		boolean first = encoded.commit().expect() == Commit.Expect.ABSENT;
		if (first) {
			noted.add(touchSessions(key, encoded.firstTimeToLive()));
		}
		Reply reply = commit(encoded, write, first);
		if (reply.requiredText(0).equals("INDEX")) {
			Long timeToLive = reply.numberOrNull(1);
			noted.add(touchSessions(key, (timeToLive != null && timeToLive > 0) ? timeToLive : null));
			reply = commit(encoded, write, true);
		}
		if (reply.requiredText(0).equals("COMMITTED")) {
			settle(noted, reply.numberOrNull(4));
		}
		return reply;
	}

	private Reply commit(EncodedCommit encoded, WriteId write, boolean indexed) {
		Commit commit = encoded.commit();
		List<Pair> session = new ArrayList<>(List.of(this.keys.session(encoded.key())));
		if (commit.turn() == null) {
			session.add(this.keys.writes(encoded.key()));
		}
		List<Pair> indexes = new ArrayList<>();
		indexes.add(this.keys.sessions(commit.key().owner()));
		kinds(commit).forEach((kind) -> indexes.add(this.keys.records(commit.key().owner(), kind)));
		return this.scripts
			.write(Script.COMMIT, session, indexes, Arguments.of(encoded, indexed, OwnerIndex.lag()), write)
			.about(commit.key());
	}

	private static Set<String> kinds(Commit commit) {
		Set<String> kinds = new LinkedHashSet<>();
		commit.records().forEach((record) -> kinds.add(record.kind()));
		return kinds;
	}

	boolean put(SessionKey key, RecordWrite record) {
		List<Noted> noted = this.scripts.haveOneServer() ? List.of() : List.of(touchRecords(key, record.kind()));
		Arguments arguments = new Arguments().with(key.id()).with(OwnerIndex.lag()).with(record);
		Reply reply = this.scripts.write(Script.PUT, sessionAndWrites(key),
				List.of(this.keys.records(key.owner(), record.kind())), arguments, WriteId.next());
		boolean written = reply.number(0) == 1;
		if (written) {
			settle(noted, reply.numberOrNull(1));
		}
		return written;
	}

	/**
	 * Erases the session that is there now, and no later one: when the request arrives
	 * twice, somebody may have created a session in between. A write id cannot help here,
	 * since an erased session leaves no key to keep it in.
	 */
	void erase(SessionKey key) {
		Reply standing = this.scripts.read(Script.STANDING, List.of(this.keys.session(KeyHash.of(key))),
				new Arguments());
		List<String> kinds = standing.list(2).texts();
		List<Pair> indexes = new ArrayList<>(List.of(this.keys.sessions(key.owner())));
		kinds.forEach((kind) -> indexes.add(this.keys.records(key.owner(), kind)));
		Reply reply = this.scripts.write(Script.CLEAR, sessionAndWrites(key), indexes,
				new Arguments().with(key.id()).with(standing.text(1)), WriteId.next());
		if (this.scripts.haveOneServer()) {
			indexes.clear();
		}
		List<String> others = new ArrayList<>(reply.list(2).texts());
		others.removeAll(kinds);
		others.forEach((kind) -> indexes.add(this.keys.records(key.owner(), kind)));
		long upTo = (reply.number(1) == 1) ? reply.number(0) : standing.number(0);
		indexes.forEach((each) -> this.index.forget(each, key.id(), upTo));
	}

	private List<Pair> sessionAndWrites(SessionKey key) {
		KeyHash hash = KeyHash.of(key);
		return List.of(this.keys.session(hash), this.keys.writes(hash));
	}

	private Noted touchSessions(SessionKey key, @Nullable Long timeToLive) {
		return this.index.touch(this.keys.sessions(key.owner()), key.id(), timeToLive);
	}

	/** The index keeps the entry until the commit returns the session's time to live. */
	private Noted touchRecords(SessionKey key, String kind) {
		return this.index.touch(this.keys.records(key.owner(), kind), key.id(), null);
	}

	private void settle(List<Noted> noted, @Nullable Long timeToLive) {
		noted.forEach((each) -> this.index.settle(each, timeToLive));
	}

}
