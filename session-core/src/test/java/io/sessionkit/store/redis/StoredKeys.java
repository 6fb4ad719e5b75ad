package io.sessionkit.store.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import io.sessionkit.SessionKey;
import io.sessionkit.internal.row.KeyHash;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.DefaultRedisScript;

/**
 * The keys of a store, seen from underneath.
 *
 * @param redis the server
 * @param prefix what their names begin with
 */
record StoredKeys(StringRedisTemplate redis, String prefix) {

	static StoredKeys in(RedisConnectionFactory connections, String prefix) {
		return new StoredKeys(new StringRedisTemplate(connections), prefix);
	}

	String session(SessionKey key) {
		return name(new RedisKeys(this.prefix).session(KeyHash.of(key)).first());
	}

	String turns(SessionKey key) {
		return name(new RedisKeys(this.prefix).session(KeyHash.of(key)).second());
	}

	String records(SessionKey key) {
		return name(new RedisKeys(this.prefix).records(KeyHash.of(key)).first());
	}

	String ids(SessionKey key) {
		return name(new RedisKeys(this.prefix).records(KeyHash.of(key)).second());
	}

	String writes(SessionKey key) {
		return name(new RedisKeys(this.prefix).writes(KeyHash.of(key)).first());
	}

	String sessions(String owner) {
		return name(new RedisKeys(this.prefix).sessions(owner).first());
	}

	String expiries(String owner) {
		return name(new RedisKeys(this.prefix).sessions(owner).second());
	}

	String recordsOf(String owner, String kind) {
		return name(new RedisKeys(this.prefix).records(owner, kind).first());
	}

	String expiriesOf(String owner, String kind) {
		return name(new RedisKeys(this.prefix).records(owner, kind).second());
	}

	/** The entries of a session in the index of the records of all owners. */
	List<String> shared(SessionKey key) {
		Set<String> entries = Objects.requireNonNull(this.redis.opsForZSet().range(shared(), 0, -1));
		return entries.stream().filter((entry) -> entry.startsWith(key.owner() + '\0' + key.id() + '\0')).toList();
	}

	/** Lets these entries be older. */
	void passTimeOfShared(SessionKey key, Duration time) {
		shared(key)
			.forEach((entry) -> this.redis.opsForZSet().incrementScore(shared(), entry, -time.toNanos() / 1000.0));
	}

	private String shared() {
		return name(new RedisKeys(this.prefix).shared().first());
	}

	/** The keys that are there of a session. */
	long leftOf(SessionKey key) {
		Long there = this.redis.countExistingKeys(List.of(session(key), turns(key), records(key), ids(key)));
		return (there != null) ? there : 0;
	}

	/** Copies the keys of a session, and returns what puts them back. */
	Runnable backup(SessionKey key) {
		List<String> keys = List.of(session(key), turns(key), records(key), ids(key));
		List<byte[]> values = keys.stream().map(this.redis::dump).toList();
		return () -> {
			this.redis.delete(keys);
			for (int i = 0; i < keys.size(); i++) {
				if (values.get(i) != null) {
					this.redis.restore(keys.get(i), values.get(i), 0, TimeUnit.MILLISECONDS);
				}
			}
		};
	}

	/**
	 * Lets what is stored of a session be older, as if time had passed since it was
	 * written; its own end stays.
	 */
	void passTime(SessionKey key, String kind, Duration time) {
		long micros = time.toNanos() / 1000;
		this.redis.execute(new DefaultRedisScript<>("""
				local header = redis.call('GET', KEYS[1])
				local state = string.find(header, '\\n', 53)
				local at = string.find(header, '\\n', state + 1)
				local kinds, size = '', string.match(header, ' (%d+)\\n', at)
				local rest = string.sub(header, state + 33, #header - size)
				if size ~= '0' then
					kinds = cmsgpack.unpack(string.sub(header, -size))
					for kind, at in pairs(kinds) do kinds[kind] = at - ARGV[1] end
					kinds = cmsgpack.pack(kinds)
				end
				local function before(from)
					local time = string.sub(header, from, from + 15)
					return time == string.rep('9', 16) and time or string.format('%016.0f', time - ARGV[1])
				end
				redis.call('SET', KEYS[1], string.sub(header, 1, state) .. before(state + 1) .. before(state + 17)
						.. rest .. kinds, 'KEEPTTL')
				"""), List.of(session(key)), Long.toString(micros));
		for (String index : List.of(sessions(key.owner()), expiries(key.owner()), recordsOf(key.owner(), kind),
				expiriesOf(key.owner(), kind))) {
			this.redis.opsForZSet().incrementScore(index, key.id(), -micros);
		}
	}

	private static String name(byte[] key) {
		return new String(key, StandardCharsets.UTF_8);
	}

	/** Returns the time at which a session ends by its header, in microseconds. */
	double endOf(SessionKey key) {
		return Double.parseDouble(Objects.requireNonNull(this.redis.opsForValue().get(session(key), 16, 35)));
	}

	/** Spoils the attributes in the header. */
	boolean spoil(SessionKey key) {
		String header = Objects.requireNonNull(this.redis.opsForValue().get(session(key)));
		String spoilt = header.replaceFirst("([r-][s-][i-]\\d+ \\d+ \\d+) 0 0\n", "$1 0 7\n{broken");
		this.redis.opsForValue().set(session(key), spoilt);
		return !spoilt.equals(header);
	}

	/** Spoils one message without changing its length. */
	boolean corrupt(SessionKey key, long sequence) {
		List<String> turns = Objects.requireNonNull(this.redis.opsForList().range(turns(key), 0, -1));
		for (int i = 0; i < turns.size(); i++) {
			String spoilt = turns.get(i).replaceFirst("(?m)^((?s:.*?)\\b" + sequence + " \\d+ \\d+ \\d+\n)\\{", "$1[");
			if (!spoilt.equals(turns.get(i))) {
				this.redis.opsForList().set(turns(key), i, spoilt);
				return true;
			}
		}
		return false;
	}

}
