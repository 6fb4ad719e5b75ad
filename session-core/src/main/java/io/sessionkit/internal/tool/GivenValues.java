package io.sessionkit.internal.tool;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;

import org.jspecify.annotations.Nullable;

/**
 * Values by name, some of which were not given. Reading one of those is an error. In an
 * expression null is less than every number and equal to no text, so a condition would be
 * false only because a value is missing.
 */
final class GivenValues extends LinkedHashMap<Object, Object> {

	private static final long serialVersionUID = 1L;

	private GivenValues() {
	}

	/**
	 * Returns a copy without the names whose value is null.
	 * @throws NoSuchElementException if a list contains null
	 */
	static Map<Object, Object> of(Map<?, ? extends @Nullable Object> values) {
		GivenValues given = new GivenValues();
		values.forEach((name, value) -> {
			if (name != null && value != null) {
				given.put(name, given(value));
			}
		});
		return Collections.unmodifiableMap(given);
	}

	private static Object given(@Nullable Object value) {
		if (value instanceof Map<?, ?> map) {
			return of(map);
		}
		if (value instanceof List<?> list) {
			return givenElements(list);
		}
		if (value == null) {
			throw new NoSuchElementException();
		}
		return value;
	}

	private static List<Object> givenElements(List<?> list) {
		List<Object> given = new ArrayList<>();
		list.forEach((element) -> given.add(given(element)));
		return Collections.unmodifiableList(given);
	}

	@Override
	public Object get(@Nullable Object name) {
		Object value = super.get(name);
		if (value == null) {
			throw new NoSuchElementException();
		}
		return value;
	}

}
