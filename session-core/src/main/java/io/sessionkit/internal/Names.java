package io.sessionkit.internal;

import org.jspecify.annotations.Nullable;

/**
 * Rules for names that every store can keep and every log line can show unchanged: ids of
 * sessions, turns and records, kinds of records, and names of branches.
 */
public final class Names {

	/** The number of characters shown of a name that may be of any length. */
	private static final int MOST_SHOWN = 64;

	/** The beginning of names that are SessionKit's own, as its properties begin. */
	public static final String OWN = "sessionkit.";

	private Names() {
	}

	/**
	 * Returns whether a parameter or an attribute of this name is SessionKit's own.
	 */
	public static boolean isOwn(String name) {
		return name.startsWith(OWN);
	}

	/**
	 * Returns the rule that makes a text unfit as a name. A name must not contain control
	 * characters, line and paragraph separators, marks that change the direction of the
	 * text after them (U+202A to U+202E, U+2066 to U+2069), or surrogates without their
	 * other half.
	 * @param name the text
	 * @return the rule that the text breaks, worded for the middle of a sentence: "must
	 * not contain …" with the character and its position; null if it breaks none
	 */
	public static @Nullable String flaw(String name) {
		for (int i = 0; i < name.length(); i++) {
			char c = name.charAt(i);
			if (Character.isISOControl(c) || isSeparator(c) || turnsDirection(c)) {
				return String.format("must not contain control characters; there is U+%04X at %d", (int) c, i);
			}
			if (Character.isSurrogate(c)) {
				if (!isPair(name, i)) {
					return lone(c, i);
				}
				i++;
			}
		}
		return null;
	}

	/**
	 * Returns the rule that keeps a longer text from being stored unchanged by every
	 * store. It must not contain the character U+0000 or surrogates without their other
	 * half.
	 * @param text the text
	 * @return the rule that the text breaks, worded as for {@link #flaw}; null if it
	 * breaks none
	 */
	public static @Nullable String flawOfText(String text) {
		for (int i = 0; i < text.length(); i++) {
			char c = text.charAt(i);
			if (c == 0) {
				return "must not contain the character U+0000; there is one at " + i;
			}
			if (Character.isSurrogate(c)) {
				if (!isPair(text, i)) {
					return lone(c, i);
				}
				i++;
			}
		}
		return null;
	}

	/**
	 * Returns a name that somebody else has chosen, such as a model, as one line of a log
	 * can show it: in quotes, cut, and with the characters that {@link #flaw} names, and
	 * other invisible ones, as escapes.
	 * @param name the name
	 * @return the name to show
	 */
	public static String quoted(String name) {
		return "'" + shown(name) + "'";
	}

	/**
	 * Returns a name as {@link #quoted} does, without the quotes.
	 * @param name the name
	 * @return the name to show
	 */
	public static String shown(String name) {
		StringBuilder shown = new StringBuilder();
		int end = Math.min(name.length(), MOST_SHOWN);
		for (int i = 0; i < end; i++) {
			char c = name.charAt(i);
			if (Character.isSurrogate(c) || isSeparator(c) || Character.isISOControl(c) || Invisible.is(c)) {
				shown.append(String.format("\\u%04X", (int) c));
			}
			else {
				shown.append(c);
			}
		}
		return shown.append((end < name.length()) ? "..." : "").toString();
	}

	private static boolean isSeparator(char c) {
		return c == '\u2028' || c == '\u2029';
	}

	private static boolean turnsDirection(char c) {
		return (c >= '\u202A' && c <= '\u202E') || (c >= '\u2066' && c <= '\u2069');
	}

	private static boolean isPair(String text, int i) {
		return i + 1 < text.length() && Character.isSurrogatePair(text.charAt(i), text.charAt(i + 1));
	}

	private static String lone(char c, int at) {
		return String.format("must be valid Unicode; there is a lone surrogate U+%04X at %d", (int) c, at);
	}

}
