package io.sessionkit.store.redis;

import java.util.ArrayList;
import java.util.List;

import io.sessionkit.SessionKey;
import io.sessionkit.internal.row.EncodedCommit;
import io.sessionkit.internal.row.KeyHash;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.redis.RedisKeys.Pair;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Writes sessions and their entries in the indexes. Each write has an id, by which its
 * script recognizes the write when the driver or {@link RedisScripts} sends it again.
 */
final class SessionWrites {

	private static final Log logger = LogFactory.getLog(SessionWrites.class);

	private final RedisKeys keys;

	private final RedisScripts scripts;

	private final OwnerIndex index;

	private final SharedIndex shared;

	SessionWrites(RedisKeys keys, RedisScripts scripts, OwnerIndex index, SharedIndex shared) {
		this.keys = keys;
		this.scripts = scripts;
		this.index = index;
		this.shared = shared;
	}

	CommitResult commit(EncodedCommit encoded) {
		WriteId write = WriteId.next();
		PlainTurn plain = PlainTurn.of(encoded, write);
		return (plain != null && append(encoded, plain)) ? plain.result() : commit(encoded, write);
	}

	/**
	 * Appends a turn to a session that is still as it was opened.
	 * @return whether it was stored: false if more is to be done or found out
	 */
	private boolean append(EncodedCommit encoded, PlainTurn plain) {
		SessionKey key = encoded.commit().key();
		Arguments arguments = plain.arguments(OwnerIndex.lag(true), OwnerIndex.slack());
		return this.scripts
			.write(Script.PLAIN, this.keys.scripts(encoded.key()), List.of(this.keys.sessions(key.owner())), arguments)
			.number(0) == 1;
	}

	private CommitResult commit(EncodedCommit encoded, WriteId write) {
		Commit commit = encoded.commit();
		long announced = this.shared.announce(commit.key(), commit.records());
		IndexEntries entries = expectedEntries(encoded);
		Reply reply = commit(encoded, entries, write);
		while (is(reply, "INDEX")) {
			noteMissing(entries, reply);
			reply = commit(encoded, entries, write);
		}
		settle(entries, reply);
		if (is(reply, "COMMITTED")) {
			this.shared.withdraw(commit.key(), commit.records(), announced);
		}
		return Commits.result(commit, reply);
	}

	/**
	 * Returns the entries that the commit will need, as far as it is known before.
	 */
	private IndexEntries expectedEntries(EncodedCommit encoded) {
		Commit commit = encoded.commit();
		IndexEntries entries = entries(commit.key());
		if (this.scripts.haveOneServer() || commit.expect() == Commit.Expect.ABSENT) {
			entries.noteSession(encoded.firstTimeToLive());
		}
		if (this.scripts.haveOneServer()) {
			entries.noteKinds(commit.records().stream().map(RecordWrite::kind).toList(), null);
		}
		return entries;
	}

	/**
	 * Notes the entries without which the script has not written.
	 */
	private static void noteMissing(IndexEntries entries, Reply reply) {
		if (reply.number(2) == 1) {
			entries.noteSession(timeToLive(reply));
		}
		entries.noteKinds(reply.list(3).texts(), timeToLive(reply));
	}

	private Reply commit(EncodedCommit encoded, IndexEntries entries, WriteId write) {
		List<Pair> session = new ArrayList<>(this.keys.scripts(encoded.key()));
		if (encoded.commit().turn() == null) {
			session.add(this.keys.writes(encoded.key()));
		}
		return this.scripts
			.write(Script.COMMIT, session, entries.indexes(), CommitArguments.of(encoded, entries), write)
			.about(encoded.commit().key());
	}

	boolean put(SessionKey key, RecordWrite record) {
		WriteId write = WriteId.next();
		long announced = this.shared.announce(key, List.of(record));
		IndexEntries entries = entries(key);
		if (this.scripts.haveOneServer()) {
			entries.noteKinds(List.of(record.kind()), null);
		}
		Reply reply = put(key, record, entries, write);
		if (is(reply, "INDEX")) {
			entries.noteKinds(List.of(record.kind()), timeToLive(reply));
			reply = put(key, record, entries, write);
		}
		settle(entries, reply);
		boolean written = is(reply, "WRITTEN");
		if (written) {
			this.shared.withdraw(key, List.of(record), announced);
		}
		return written;
	}

	private Reply put(SessionKey key, RecordWrite record, IndexEntries entries, WriteId write) {
		Arguments arguments = new Arguments().with(key.id())
			.with(OwnerIndex.lag())
			.with(OwnerIndex.slack())
			.with(!entries.kinds().isEmpty())
			.with(entries.at())
			.with(record);
		return this.scripts.write(Script.PUT, sessionAndWrites(key), entries.indexes(), arguments, write).about(key);
	}

	private IndexEntries entries(SessionKey key) {
		return new IndexEntries(key, this.keys, this.scripts.haveOneServer() ? null : this.index);
	}

	private static boolean is(Reply reply, String outcome) {
		return reply.requiredText(0).equals(outcome);
	}

	/**
	 * Returns the time to live, which every answer has in the second place; null if the
	 * session never expires.
	 */
	private static @Nullable Long timeToLive(Reply reply) {
		return reply.numberOrNull(1);
	}

	private static void settle(IndexEntries entries, Reply reply) {
		Long timeToLive = timeToLive(reply);
		boolean exists = timeToLive == null || timeToLive >= 0;
		onceWritten(() -> entries.settle(exists, timeToLive));
	}

	/**
	 * Brings an entry up to date. If its server does not do it, the entry lasts longer
	 * than its session, and a reader removes it: the write of the session is done, or
	 * refused, whatever becomes of its entries.
	 */
	private static void onceWritten(Runnable change) {
		try {
			change.run();
		}
		catch (StoreUnavailableException ex) {
			logger.debug("An entry of a session in an index stays as it is: " + ex.getClass().getName());
		}
	}

	/**
	 * Erases the session that exists now, and no later one: if the request arrives twice,
	 * another writer may have created a session in between. A write id cannot help here,
	 * because an erased session leaves no key to keep it in. So nobody can tell whether
	 * an earlier request, whose answer was lost, or another writer has erased what was
	 * there a moment ago; what is told is that it was there.
	 * @return whether there was a session that had not expired
	 */
	boolean erase(SessionKey key) {
		Reply standing = this.scripts.read(Script.STANDING, this.keys.scripts(KeyHash.of(key)), new Arguments());
		List<String> kinds = standing.list(2).texts();
		List<Pair> indexes = new ArrayList<>(List.of(this.keys.sessions(key.owner())));
		kinds.forEach((kind) -> indexes.add(this.keys.records(key.owner(), kind)));
		List<Pair> all = new ArrayList<>(indexes);
		all.add(this.keys.shared());
		Reply reply = this.scripts.write(Script.CLEAR, sessionAndWrites(key), all,
				new Arguments().with(key.id()).with(standing.text(1)), WriteId.next());
		if (this.scripts.haveOneServer()) {
			indexes.clear();
		}
		List<String> others = new ArrayList<>(reply.list(2).texts());
		others.removeAll(kinds);
		others.forEach((kind) -> indexes.add(this.keys.records(key.owner(), kind)));
		long upTo = (reply.number(1) == 1) ? reply.number(0) : standing.number(0);
		indexes.forEach((each) -> onceWritten(() -> this.index.forget(each, key.id(), upTo)));
		return standing.number(3) == 1;
	}

	private List<Pair> sessionAndWrites(SessionKey key) {
		KeyHash hash = KeyHash.of(key);
		return List.of(this.keys.session(hash), this.keys.records(hash), this.keys.writes(hash));
	}

}
