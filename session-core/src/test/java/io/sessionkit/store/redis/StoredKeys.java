package io.sessionkit.store.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;

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

	String records(SessionKey key) {
		return name(new RedisKeys(this.prefix).session(KeyHash.of(key)).second());
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

	/** The keys that are there of a session. */
	long leftOf(SessionKey key) {
		Long there = this.redis.countExistingKeys(List.of(session(key), records(key)));
		return (there != null) ? there : 0;
	}

	/**
	 * Lets what is stored of a session be older, as if time had passed since it was
	 * written; its own end stays.
	 */
	void passTime(SessionKey key, String kind, Duration time) {
		long micros = time.toNanos() / 1000;
		this.redis.opsForHash().increment(session(key), "indexed", -micros);
		this.redis.execute(new DefaultRedisScript<>("""
				local packed = redis.call('HGET', KEYS[1], 'kinds')
				if not packed then return end
				local kinds = cmsgpack.unpack(packed)
				for kind, at in pairs(kinds) do kinds[kind] = at - ARGV[1] end
				redis.call('HSET', KEYS[1], 'kinds', cmsgpack.pack(kinds))
				"""), List.of(session(key)), Long.toString(micros));
		for (String index : List.of(sessions(key.owner()), expiries(key.owner()), recordsOf(key.owner(), kind),
				expiriesOf(key.owner(), kind))) {
			this.redis.opsForZSet().incrementScore(index, key.id(), -micros);
		}
	}

	private static String name(byte[] key) {
		return new String(key, StandardCharsets.UTF_8);
	}

	boolean spoil(SessionKey key) {
		this.redis.opsForHash().put(session(key), "state", "{broken");
		return true;
	}

	/** Spoils one message without changing its length. */
	boolean corrupt(SessionKey key, long sequence) {
		Map<Object, Object> fields = this.redis.opsForHash().entries(session(key));
		return fields.keySet()
			.stream()
			.map(String::valueOf)
			.filter((field) -> field.startsWith("m:"))
			.anyMatch((field) -> corrupt(session(key), field, String.valueOf(fields.get(field)), sequence));
	}

	private boolean corrupt(String session, String field, String items, long sequence) {
		String spoilt = items.replaceFirst("(?m)^((?s:.*?)\\b" + sequence + " \\d+ \\d+ \\d+\n)\\{", "$1[");
		if (spoilt.equals(items)) {
			return false;
		}
		this.redis.opsForHash().put(session, field, spoilt);
		return true;
	}

}
