package io.sessionkit.store.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.sessionkit.internal.row.Micros;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.redis.RedisKeys.Pair;
import org.jspecify.annotations.Nullable;

/**
 * The arguments of a script, one after another. A missing value is an empty text.
 */
final class Arguments {

	private static final byte[] NONE = {};

	private final List<byte[]> values = new ArrayList<>();

	/**
	 * Returns keys, the arguments, and the one that each script expects at the end.
	 */
	byte[][] toArray(List<Pair> keys, String last) {
		byte[][] all = new byte[2 * keys.size() + this.values.size() + 1][];
		int at = 0;
		for (Pair pair : keys) {
			all[at++] = pair.first();
			all[at++] = pair.second();
		}
		for (byte[] value : this.values) {
			all[at++] = value;
		}
		all[at] = RedisKeys.bytes(last);
		return all;
	}

	Arguments with(byte[] bytes) {
		this.values.add(bytes);
		return this;
	}

	Arguments with(@Nullable String text) {
		this.values.add((text != null) ? RedisKeys.bytes(text) : NONE);
		return this;
	}

	Arguments with(@Nullable Long number) {
		return with((number != null) ? number.toString() : null);
	}

	Arguments with(long number) {
		return with(Long.toString(number));
	}

	Arguments with(boolean yes) {
		return with(yes ? "1" : "0");
	}

	/** Adds a limit; {@link Integer#MAX_VALUE} means none. */
	Arguments withLimit(int limit) {
		return with((limit != Integer.MAX_VALUE) ? Long.valueOf(limit) : null);
	}

	Arguments with(RecordWrite write) {
		Duration timeToLive = write.timeToLive();
		return with(write.kind()).with(write.id())
			.with(write.expected())
			.with(write.first())
			.with(write.payload() != null)
			.with(write.payload())
			.with((timeToLive != null) ? Long.valueOf(Micros.of(timeToLive)) : null);
	}

}
