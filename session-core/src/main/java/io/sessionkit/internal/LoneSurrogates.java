package io.sessionkit.internal;

/**
 * Finds and replaces lone surrogates, which are UTF-16 units without their other half.
 * They are not Unicode text: databases refuse them or turn each into a question mark. A
 * model, a tool or a hook may cut a text within a character all the same.
 */
public final class LoneSurrogates {

	private static final char REPLACEMENT = '\uFFFD';

	private LoneSurrogates() {
	}

	/** Returns whether there is one in the text. */
	public static boolean in(String text) {
		return indexOf(text, 0) >= 0;
	}

	/**
	 * Returns the text with U+FFFD instead of each lone surrogate; the same instance if
	 * there is none.
	 */
	public static String replaced(String text) {
		int at = indexOf(text, 0);
		if (at < 0) {
			return text;
		}
		StringBuilder repaired = new StringBuilder(text);
		for (; at >= 0; at = indexOf(text, at + 1)) {
			repaired.setCharAt(at, REPLACEMENT);
		}
		return repaired.toString();
	}

	private static int indexOf(String text, int from) {
		for (int i = from; i < text.length(); i++) {
			if (Character.isSurrogate(text.charAt(i))) {
				if (!pairAt(text, i)) {
					return i;
				}
				i++;
			}
		}
		return -1;
	}

	private static boolean pairAt(String text, int i) {
		return i + 1 < text.length() && Character.isSurrogatePair(text.charAt(i), text.charAt(i + 1));
	}

}
