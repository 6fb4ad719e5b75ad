package io.sessionkit.guard;

import java.util.Map;
import java.util.TreeMap;

import io.sessionkit.guard.Detector.Span;

/**
 * Replaces matches by stars, and finds the ends of matches that masks have left in a
 * text: four letters or digits behind at least four stars.
 */
final class Mask {

	/** The number of characters of a masked text that stay. */
	private static final int KEPT = 4;

	/** The number of other characters that may stand between two of a masked text. */
	private static final int GAP = 3;

	private final TreeMap<Integer, Integer> left = new TreeMap<>();

	/**
	 * Finds the ends that masks have left in a text.
	 */
	Mask(String text) {
		int stars = 0;
		int gap = 0;
		for (int i = text.indexOf('*'); i >= 0 && i < text.length(); i += Character.charCount(text.codePointAt(i))) {
			int character = text.codePointAt(i);
			if (!isCounted(character)) {
				stars = (++gap > GAP) ? 0 : stars;
				continue;
			}
			if (character != '*' && stars >= KEPT) {
				addLeft(text, i);
			}
			stars = (character == '*') ? stars + 1 : 0;
			gap = 0;
		}
	}

	private void addLeft(String text, int start) {
		int count = 0;
		int gap = 0;
		int i = start;
		while (i < text.length() && text.charAt(i) != '*' && gap <= GAP) {
			int character = text.codePointAt(i);
			i += Character.charCount(character);
			gap = isCounted(character) ? 0 : gap + 1;
			count += isCounted(character) ? 1 : 0;
			if (count == KEPT) {
				this.left.put(start, i);
				return;
			}
		}
	}

	/**
	 * Returns whether a match lies within the end that a mask has left.
	 */
	boolean hasLeft(Span match) {
		Map.Entry<Integer, Integer> end = this.left.floorEntry(match.start());
		return end != null && match.end() <= end.getValue();
	}

	/**
	 * Masks an address; its first letter and its domain stay.
	 */
	static String email(String address) {
		int at = address.indexOf('@');
		int count = address.codePointCount(0, at);
		String first = (count > 1) ? Character.toString(address.codePointAt(0)) : "";
		return first + "*".repeat((count > 1) ? count - 1 : count) + address.substring(at);
	}

	/**
	 * Masks a match. A star counts like the character that it stands for, so that a
	 * masked text stays as it is.
	 */
	static String of(String match) {
		int countable = (int) match.codePoints().filter(Mask::isCounted).count();
		int hidden = (countable >= 2 * KEPT) ? countable - KEPT : countable;
		StringBuilder result = new StringBuilder(match.length());
		int seen = 0;
		for (int character : match.codePoints().toArray()) {
			boolean star = isCounted(character) && seen++ < hidden;
			result.appendCodePoint(star ? '*' : character);
		}
		return result.toString();
	}

	private static boolean isCounted(int character) {
		return Character.isLetterOrDigit(character) || character == '*';
	}

}
