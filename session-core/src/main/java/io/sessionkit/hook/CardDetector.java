package io.sessionkit.hook;

import org.jspecify.annotations.Nullable;

/**
 * Finds numbers of payment cards: 13 to 19 digits, with single spaces or hyphens between
 * groups of them, whose check digit is right (Luhn). About one in ten other numbers of
 * that length has such a digit too, decimals of them included; only what follows
 * {@code 0.} is none.
 * <p>
 * From the start of each group no more than 20 digits are looked at, and the rest of a
 * longer run is passed over at once.
 */
final class CardDetector implements Detector {

	private static final int FEWEST = 13;

	private static final int MOST = 19;

	private static final int DECIMAL = 10;

	/** Spaces and hyphens, those that do not break included. */
	private static final String SEPARATORS = " -\u00A0\u202F\u2010\u2011\u2012\u2013";

	@Override
	public @Nullable Span find(CharSequence text, int from, int to) {
		int i = from;
		while (i < to) {
			if (!isDigit(text, i)) {
				i++;
				continue;
			}
			int end = isInsideOfNumber(text, i) ? -1 : longest(text, i, to);
			if (end > 0) {
				return new Span(i, end);
			}
			while (i < to && isDigit(text, i)) {
				i++;
			}
		}
		return null;
	}

	/**
	 * Behind another digit, or behind the point of a fraction of one: any other point or
	 * comma may part a list.
	 */
	private static boolean isInsideOfNumber(CharSequence text, int start) {
		return isDigit(text, start - 1) || (start > 1 && text.charAt(start - 1) == '.' && text.charAt(start - 2) == '0'
				&& !isDigit(text, start - 3) && !isPoint(text, start - 3));
	}

	private static boolean isPoint(CharSequence text, int index) {
		return index >= 0 && (text.charAt(index) == '.' || text.charAt(index) == ',');
	}

	/**
	 * The end of the longest card number that begins here.
	 * @return -1 if there is none
	 */
	private static int longest(CharSequence text, int start, int to) {
		int found = -1;
		int[] sums = new int[2]; // with each second digit doubled, from the first or
									// second
		int i = start;
		for (int count = 1; count <= MOST && i < to; count++) {
			int digit = Character.digit(text.charAt(i), DECIMAL);
			sums[(count - 1) % 2] += doubled(digit);
			sums[count % 2] += digit;
			i++;
			if (isDigit(text, i)) {
				continue;
			}
			if (count >= FEWEST && sums[count % 2] % DECIMAL == 0) {
				found = i;
			}
			if (i + 1 >= to || SEPARATORS.indexOf(text.charAt(i)) < 0 || !isDigit(text, i + 1)) {
				break;
			}
			i++;
		}
		return found;
	}

	private static int doubled(int digit) {
		return (2 * digit < DECIMAL) ? 2 * digit : 2 * digit - DECIMAL + 1;
	}

	private static boolean isDigit(CharSequence text, int index) {
		return index >= 0 && index < text.length() && Character.digit(text.charAt(index), DECIMAL) >= 0;
	}

}
