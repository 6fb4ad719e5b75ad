package io.sessionkit.internal.message;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.temporal.Temporal;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * Finds the values that can be shared because they are immutable, and compares values by
 * content.
 */
public final class PlainValues {

	private PlainValues() {
	}

	public static boolean arePlain(Map<String, ? extends @Nullable Object> values) {
		for (Object value : values.values()) {
			if (!isPlain(value)) {
				return false;
			}
		}
		return true;
	}

	/**
	 * Returns whether two values are equal. Arrays, also nested ones, are compared by
	 * content.
	 */
	public static boolean equal(@Nullable Object one, @Nullable Object other) {
		if (one instanceof Map<?, ?> map && other instanceof Map<?, ?> otherMap) {
			return equalMaps(map, otherMap);
		}
		if (one instanceof List<?> list && other instanceof List<?> otherList) {
			return equalLists(list, otherList);
		}
		if (one instanceof byte[] bytes && other instanceof byte[] otherBytes) {
			return Arrays.equals(bytes, otherBytes);
		}
		return Objects.deepEquals(one, other);
	}

	private static boolean equalMaps(Map<?, ?> map, Map<?, ?> other) {
		return map.size() == other.size() && map.entrySet()
			.stream()
			.allMatch(
					(entry) -> other.containsKey(entry.getKey()) && equal(entry.getValue(), other.get(entry.getKey())));
	}

	private static boolean equalLists(List<?> list, List<?> other) {
		if (list.size() != other.size()) {
			return false;
		}
		for (int i = 0; i < list.size(); i++) {
			if (!equal(list.get(i), other.get(i))) {
				return false;
			}
		}
		return true;
	}

	private static boolean isPlain(@Nullable Object value) {
		return value == null || value instanceof String || value instanceof Boolean || value instanceof Enum<?>
				|| value instanceof Integer || value instanceof Long || value instanceof Double
				|| value instanceof Float || value instanceof Short || value instanceof Byte
				|| value instanceof Character || value instanceof BigDecimal || value instanceof BigInteger
				|| value instanceof Temporal;
	}

}
