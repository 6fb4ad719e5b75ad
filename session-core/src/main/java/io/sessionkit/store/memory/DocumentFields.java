package io.sessionkit.store.memory;

import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.UnreadablePayloadException;
import org.jspecify.annotations.Nullable;

/**
 * Decoded named values, read by name and type. A value that is missing or of another type
 * results in an {@link UnreadablePayloadException} that names it.
 *
 * @param key the session they belong to
 * @param values the values
 */
record DocumentFields(SessionKey key, Map<?, ?> values) {

	<T> @Nullable T find(String name, Class<T> type) {
		Object value = this.values.get(name);
		return (value != null) ? cast(name, value, type) : null;
	}

	<T> T get(String name, Class<T> type) {
		return cast(name, this.values.get(name), type);
	}

	String text(String name) {
		return get(name, String.class);
	}

	long number(String name) {
		return get(name, Long.class);
	}

	Instant instant(String name) {
		return get(name, Instant.class);
	}

	Set<String> texts(String name) {
		return list(name).stream().map((text) -> cast(name, text, String.class)).collect(Collectors.toSet());
	}

	Map<String, String> named(String name) {
		Map<String, String> named = new HashMap<>();
		get(name, Map.class)
			.forEach((key, value) -> named.put(cast(name, key, String.class), cast(name, value, String.class)));
		return named;
	}

	/**
	 * Returns a list whose entries are named values themselves.
	 */
	List<DocumentFields> all(String name) {
		return list(name).stream().map((each) -> new DocumentFields(this.key, cast(name, each, Map.class))).toList();
	}

	/**
	 * Returns the same for a name that was added to the format later; an empty list if
	 * the name is missing.
	 */
	List<DocumentFields> allIfPresent(String name) {
		return this.values.containsKey(name) ? all(name) : List.of();
	}

	Map<String, Object> valuesIfPresent(String name) {
		Map<String, Object> values = new HashMap<>();
		Map<?, ?> there = find(name, Map.class);
		if (there != null) {
			there.forEach((key, value) -> values.put(cast(name, key, String.class), cast(name, value, Object.class)));
		}
		return values;
	}

	private List<?> list(String name) {
		return get(name, List.class);
	}

	private <T> T cast(String name, @Nullable Object value, Class<T> type) {
		if (!type.isInstance(value)) {
			throw new UnreadablePayloadException(
					"The document of session " + this.key + " has no valid '" + name + "'.", null);
		}
		return type.cast(value);
	}

}
