package io.sessionkit.store.memory;

import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * The encoded attributes of a session.
 *
 * @param payload the attributes as the codec encoded them
 * @param values the payload, decoded; null if it must be decoded for each reader, because
 * the values are not plain or have not been decoded yet
 */
record StoredState(String payload, @Nullable Map<String, Object> values) {

	/** No attributes. */
	static final StoredState EMPTY = new StoredState("", Map.of());

	/**
	 * Returns attributes that were kept as text.
	 */
	static StoredState of(String payload) {
		return payload.isEmpty() ? EMPTY : new StoredState(payload, null);
	}

}
