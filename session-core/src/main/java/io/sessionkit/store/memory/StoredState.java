package io.sessionkit.store.memory;

import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * The attributes of a session at rest.
 *
 * @param payload what the codec made of them
 * @param values the payload, decoded; null if it must be decoded for each reader, since
 * the values are not plain or nobody has decoded them yet
 */
record StoredState(String payload, @Nullable Map<String, Object> values) {

	/** No attributes. */
	static final StoredState EMPTY = new StoredState("", Map.of());

	/**
	 * Attributes that were kept as text.
	 */
	static StoredState of(String payload) {
		return payload.isEmpty() ? EMPTY : new StoredState(payload, null);
	}

}
