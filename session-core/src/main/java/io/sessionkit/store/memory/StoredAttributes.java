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
record StoredAttributes(String payload, @Nullable Map<String, Object> values) {

	/** No attributes. */
	static final StoredAttributes EMPTY = new StoredAttributes("", Map.of());

	/**
	 * Returns attributes that were kept as text.
	 */
	static StoredAttributes of(String payload) {
		return payload.isEmpty() ? EMPTY : new StoredAttributes(payload, null);
	}

}
