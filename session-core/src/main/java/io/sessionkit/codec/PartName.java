package io.sessionkit.codec;

import io.sessionkit.internal.Names;
import org.jspecify.annotations.Nullable;

/**
 * Names the parts of a message in exceptions and logs, without their content.
 */
final class PartName {

	private PartName() {
	}

	static String metadata(@Nullable Object key) {
		return "metadata " + quoted(key);
	}

	static String value(@Nullable Object key) {
		return "value " + quoted(key);
	}

	/**
	 * Names an element of a list, counted from 1.
	 */
	static String element(String list, int index) {
		return list + " " + (index + 1);
	}

	private static String quoted(@Nullable Object key) {
		return Names.quoted((key instanceof String string) ? string : "(" + className(key) + ")");
	}

	private static String className(@Nullable Object value) {
		return (value != null) ? value.getClass().getName() : "null";
	}

}
