package io.sessionkit.codec;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * Replaces the enum constants in a value by their names, at any depth. The class of a
 * constant has no stored form, but its name says what it means. One instance reads one
 * value.
 */
final class ConstantNames {

	private boolean found;

	private int values;

	private ConstantNames() {
	}

	/**
	 * Returns the value with names instead of constants.
	 * @return a copy that belongs to the caller; the same value if it holds no constants
	 */
	static @Nullable Object in(@Nullable Object value) {
		ConstantNames names = new ConstantNames();
		Object named = names.named(value, 0);
		return names.found ? named : value;
	}

	/**
	 * Returns the value with the names of its constants. One that is too large or
	 * contains itself is left to the write, which refuses it.
	 */
	private @Nullable Object named(@Nullable Object value, int depth) {
		if (++this.values > ValueWriter.MAX_VALUES || depth > ValueWriter.MAX_DEPTH) {
			return value;
		}
		if (value instanceof Enum<?> constant) {
			this.found = true;
			return constant.name();
		}
		if (value instanceof Map<?, ?> map) {
			Map<@Nullable Object, @Nullable Object> named = new LinkedHashMap<>();
			map.forEach((key, each) -> named.put(key, named(each, depth + 1)));
			return named;
		}
		if (value instanceof List<?> list) {
			List<@Nullable Object> named = new ArrayList<>();
			list.forEach((each) -> named.add(named(each, depth + 1)));
			return named;
		}
		if (value instanceof Set<?> set) {
			Set<@Nullable Object> named = new LinkedHashSet<>();
			set.forEach((each) -> named.add(named(each, depth + 1)));
			return named;
		}
		return value;
	}

}
