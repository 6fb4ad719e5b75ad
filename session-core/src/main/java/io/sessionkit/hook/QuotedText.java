package io.sessionkit.hook;

import io.sessionkit.internal.Invisible;

/**
 * Writes a text as a JSON string on one line. The characters of the result are visible
 * and end neither the string nor a tag around it.
 */
final class QuotedText {

	private QuotedText() {
	}

	/**
	 * Returns the text in double quotes, escaped, with an ellipsis at its end if it was
	 * cut.
	 * @param length the largest number of characters of the text to write
	 */
	static String of(String text, int length) {
		StringBuilder quoted = new StringBuilder("\"");
		int end = end(text, length);
		int i = 0;
		while (i < end) {
			int point = text.codePointAt(i);
			append(point, quoted);
			i += Character.charCount(point);
		}
		return quoted.append((end < text.length()) ? "\u2026\"" : "\"").toString();
	}

	/**
	 * Returns the index at which to cut, which is never in the middle of a character.
	 */
	private static int end(String text, int length) {
		if (text.length() <= length) {
			return text.length();
		}
		boolean within = Character.isHighSurrogate(text.charAt(length - 1))
				&& Character.isLowSurrogate(text.charAt(length));
		return within ? length - 1 : length;
	}

	private static void append(int point, StringBuilder to) {
		switch (point) {
			case '"' -> to.append("\\\"");
			case '\\' -> to.append("\\\\");
			case '\n' -> to.append("\\n");
			case '\r' -> to.append("\\r");
			case '\t' -> to.append("\\t");
			default -> {
				if (isPlain(point)) {
					to.appendCodePoint(point);
				}
				else {
					for (char unit : Character.toChars(point)) {
						to.append(String.format("\\u%04x", (int) unit));
					}
				}
			}
		}
	}

	private static boolean isPlain(int point) {
		if (point == '<' || point == '>' || Invisible.is(point)) {
			return false;
		}
		return switch (Character.getType(point)) {
			case Character.CONTROL, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR, Character.SURROGATE,
					Character.PRIVATE_USE, Character.UNASSIGNED ->
				false;
			default -> true;
		};
	}

}
