package io.sessionkit.codec;

import org.jspecify.annotations.Nullable;

/**
 * Names the parts of a message in exceptions and logs, without their content.
 */
final class PartName {

	private static final int MAX_LENGTH = 80;

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

	/**
	 * Returns a key that is safe in one line of a log: it is cut, and control characters
	 * and surrogates are replaced.
	 */
	private static String quoted(@Nullable Object key) {
		String text = (key instanceof String string) ? string : "(" + className(key) + ")";
		StringBuilder quoted = new StringBuilder("'");
		for (int i = 0; i < text.length() && i < MAX_LENGTH; i++) {
			char c = text.charAt(i);
			quoted.append((Character.isISOControl(c) || Character.isSurrogate(c)) ? '?' : c);
		}
		return quoted.append((text.length() > MAX_LENGTH) ? "...'" : "'").toString();
	}

	private static String className(@Nullable Object value) {
		return (value != null) ? value.getClass().getName() : "null";
	}

}
