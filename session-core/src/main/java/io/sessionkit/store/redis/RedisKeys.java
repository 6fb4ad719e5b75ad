package io.sessionkit.store.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Pattern;

import io.sessionkit.internal.row.KeyHash;
import io.sessionkit.store.SessionStore;
import org.jspecify.annotations.Nullable;

/**
 * The names of the keys. Those of a session share a hash tag, so that a Cluster keeps
 * them on one server; so do the two of an index. Tags are hashes, because an id may
 * contain braces.
 *
 * @param prefix the start of all names
 */
record RedisKeys(String prefix) {

	static final String DEFAULT_PREFIX = "sessionkit:";

	static final String PREFIX_PATTERN = "[^{}\\s]+";

	private static final Pattern PREFIX = Pattern.compile(PREFIX_PATTERN);

	RedisKeys {
		if (!PREFIX.matcher(prefix).matches()) {
			throw new IllegalArgumentException("The key prefix '" + prefix
					+ "' must have at least one character, and neither braces nor white space, as in '" + DEFAULT_PREFIX
					+ "'.");
		}
	}

	/**
	 * Two keys that are always used together.
	 *
	 * @param first the first
	 * @param second the second
	 */
	record Pair(byte[] first, byte[] second) {
	}

	/** Returns the keys of the header and the turns of a session. */
	Pair session(KeyHash hash) {
		return pair(hash.session(), "h", "t");
	}

	/**
	 * Returns the keys of the records of a session, with which an open turn is kept, and
	 * of the ids of its turns.
	 */
	Pair records(KeyHash hash) {
		return pair(hash.session(), "r", "i");
	}

	/** Returns the keys of a session that its scripts use, in their order. */
	List<Pair> scripts(KeyHash hash) {
		return List.of(session(hash), records(hash));
	}

	/**
	 * Returns the keys of the answers to the newest writes of a session that had no turn,
	 * and to older ones.
	 */
	Pair writes(KeyHash hash) {
		return pair(hash.session(), "w", "v");
	}

	/** Returns the keys of the sessions of an owner, and of their expiries. */
	Pair sessions(String owner) {
		return pair("o:" + KeyHash.ofOwner(owner), "s", "x");
	}

	/**
	 * Returns the keys of the sessions of an owner with records of a kind, and of their
	 * expiries.
	 */
	Pair records(String owner, String kind) {
		return pair("o:" + KeyHash.ofOwner(owner), "k:" + kind, "kx:" + kind);
	}

	/**
	 * Returns the indexes of the records of all owners: of the calls that wait, and of
	 * notices.
	 */
	Pair shared() {
		return pair("a", SessionStore.APPROVAL, SessionStore.NOTICE);
	}

	/**
	 * Returns the index that a key of expiries belongs to.
	 * @return the index; null if the key is another one
	 */
	@Nullable Pair indexOfExpiries(String key) {
		int tag = key.indexOf("}:") + 2;
		String kind = key.substring(tag);
		if (kind.equals("x")) {
			return new Pair(bytes(key.substring(0, tag) + "s"), bytes(key));
		}
		return kind.startsWith("kx:") ? new Pair(bytes(key.substring(0, tag) + "k" + kind.substring(2)), bytes(key))
				: null;
	}

	/** Returns the keys of a session that begin with the one of its records. */
	Pair withRecords(String key) {
		return new Pair(bytes(key), bytes(key.substring(0, key.length() - 1) + "i"));
	}

	/** Returns two keys of one hash slot that are never written. */
	Pair oneSlot(int number) {
		return pair("n:" + number, "a", "b");
	}

	/** Returns two keys that are written by a check, and removed at once. */
	Pair check() {
		return pair("c", "a", "b");
	}

	/** Returns two keys of different hash slots that are never written. */
	Pair severalSlots() {
		return new Pair(bytes(this.prefix + "{a}"), bytes(this.prefix + "{b}"));
	}

	private Pair pair(String tag, String first, String second) {
		String start = this.prefix + "{" + tag + "}:";
		return new Pair(bytes(start + first), bytes(start + second));
	}

	static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
