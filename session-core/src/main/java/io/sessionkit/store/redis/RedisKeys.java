package io.sessionkit.store.redis;

import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

import io.sessionkit.internal.row.KeyHash;
import org.jspecify.annotations.Nullable;

/**
 * The names of the keys. Those of a session share a hash tag, so that a Cluster keeps
 * them on one server; so do the two of an index. Tags are hashes: an id may have braces
 * in it.
 *
 * @param prefix what all names begin with
 */
record RedisKeys(String prefix) {

	private static final Pattern BRACE_OR_SPACE = Pattern.compile("[{}\\s]");

	RedisKeys {
		if (prefix.isEmpty() || BRACE_OR_SPACE.matcher(prefix).find()) {
			throw new IllegalArgumentException("The key prefix '" + prefix
					+ "' must have at least one character, and neither braces nor white space, as in '"
					+ RedisSessionStore.DEFAULT_KEY_PREFIX + "'.");
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

	/** The session and its records. */
	Pair session(KeyHash hash) {
		return pair(hash.session(), "s", "r");
	}

	/**
	 * The answers to the newest writes of a session that had no turn, and to older ones.
	 */
	Pair writes(KeyHash hash) {
		return pair(hash.session(), "w", "v");
	}

	/** The sessions of an owner, and when they are gone. */
	Pair sessions(String owner) {
		return pair("o:" + KeyHash.ofOwner(owner), "s", "x");
	}

	/** The sessions of an owner with records of a kind, and when they are gone. */
	Pair records(String owner, String kind) {
		return pair("o:" + KeyHash.ofOwner(owner), "k:" + kind, "kx:" + kind);
	}

	/**
	 * The index that a key belongs to which has the expiries of one.
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

	/** Two keys that are never written, of one hash slot. */
	Pair oneSlot(int number) {
		return pair("n:" + number, "a", "b");
	}

	/** Two keys that are never written, of different hash slots. */
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
