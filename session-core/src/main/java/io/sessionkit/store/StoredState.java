package io.sessionkit.store;

import java.util.Map;

/**
 * The attributes of a session at rest and what they decode to.
 *
 * @param payload what the codec made of them
 * @param values the payload, decoded
 * @param plain whether the values can be handed out as they are
 */
record StoredState(String payload, Map<String, Object> values, boolean plain) {

	/** No attributes. */
	static final StoredState EMPTY = new StoredState("", Map.of(), true);

}
