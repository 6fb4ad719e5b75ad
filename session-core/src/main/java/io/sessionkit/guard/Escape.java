package io.sessionkit.guard;

import org.jspecify.annotations.Nullable;

/**
 * An escape behind a backslash: the letters and signs of JSON, and the numbers of
 * programming languages, as in <code>&#92;u0073</code>, <code>&#92;u{73}</code>,
 * <code>&#92;x73</code>, <code>&#92;x{73}</code>, <code>&#92;U00000073</code>,
 * <code>&#92;N{U+0073}</code> and <code>&#92;163</code>.
 *
 * @param point the character that the escape stands for
 * @param end the index behind the escape
 */
record Escape(int point, int end) {

	private static final int HEX = 16;

	private static final int OCTAL = 8;

	private static final int OCTAL_DIGITS = 3;

	private static final int BYTE_DIGITS = 2;

	private static final int UNIT_DIGITS = 4;

	private static final int POINT_DIGITS = 8;

	/**
	 * Returns the escape whose first character behind the backslash is at the index.
	 * @return null if there is none
	 */
	static @Nullable Escape at(String text, int start) {
		if (start >= text.length()) {
			return null;
		}
		char first = text.charAt(start);
		return switch (first) {
			case 'u' -> unit(text, start + 1);
			case 'x', 'X' -> number(text, start + 1, BYTE_DIGITS);
			case 'U' -> digits(text, start + 1, POINT_DIGITS, HEX);
			case 'N' -> text.startsWith("{U+", start + 1) ? braced(text, start + "N{U+".length()) : null;
			case '0', '1', '2', '3' -> digits(text, start, OCTAL_DIGITS, OCTAL);
			default -> (JsonText.meant(first) >= 0) ? new Escape(JsonText.meant(first), start + 1) : null;
		};
	}

	/**
	 * Decodes an escape that begins with {@code u}. Java allows any number of these
	 * letters in front of the digits.
	 */
	private static @Nullable Escape unit(String text, int start) {
		int digits = start;
		while (digits < text.length() && text.charAt(digits) == 'u') {
			digits++;
		}
		return number(text, digits, UNIT_DIGITS);
	}

	/**
	 * Decodes a fixed number of digits, or any number of them in braces.
	 */
	private static @Nullable Escape number(String text, int start, int count) {
		return (start < text.length() && text.charAt(start) == '{') ? braced(text, start + 1)
				: digits(text, start, count, HEX);
	}

	private static @Nullable Escape braced(String text, int start) {
		int point = 0;
		int end = start;
		while (end < text.length() && Character.digit(text.charAt(end), HEX) >= 0
				&& point <= Character.MAX_CODE_POINT) {
			point = point * HEX + Character.digit(text.charAt(end), HEX);
			end++;
		}
		boolean closed = end > start && end < text.length() && text.charAt(end) == '}';
		return (closed && point <= Character.MAX_CODE_POINT) ? new Escape(point, end + 1) : null;
	}

	private static @Nullable Escape digits(String text, int start, int count, int radix) {
		int point = number(text, start, start + count, radix);
		return (point >= 0 && point <= Character.MAX_CODE_POINT) ? new Escape(point, start + count) : null;
	}

	/**
	 * Returns the number that these digits stand for.
	 * @return the number; -1 if a digit is missing, or if the number is larger than an
	 * {@code int}
	 */
	static int number(CharSequence text, int from, int to, int radix) {
		long number = 0;
		for (int i = from; i < to; i++) {
			int digit = (i < text.length()) ? Character.digit(text.charAt(i), radix) : -1;
			if (digit < 0) {
				return -1;
			}
			number = number * radix + digit;
		}
		return (number <= Integer.MAX_VALUE) ? (int) number : -1;
	}

}
