package io.sessionkit.guard;

import org.jspecify.annotations.Nullable;

/**
 * Finds payment card numbers: 13 to 19 digits with a valid check digit (Luhn). Single
 * spaces or hyphens may separate groups of them. Points, underscores and slashes may do
 * so only if the groups are as long as on a card: first four digits, then groups of four
 * to six, the last of one to six. The reason is that these signs also separate dates,
 * versions and file names. About one in ten other numbers of that length has a valid
 * check digit too, including decimals; only the digits behind {@code 0.} are never taken
 * for a card number.
 * <p>
 * No more than 20 digits are read from the start of each group, and the rest of a longer
 * run is skipped at once.
 */
final class CardDetector implements Detector {

	private static final int FEWEST = 13;

	private static final int MOST = 19;

	private static final int DECIMAL = 10;

	/** Spaces and hyphens, including non-breaking ones. */
	private static final String SEPARATORS = " -\u00A0\u202F\u2010\u2011\u2012\u2013";

	/** The separators of groups that are as long as on a card. */
	private static final String MORE_SEPARATORS = "._/";

	private static final int PRINTED_GROUP = 4;

	private static final int LONGEST_PRINTED_GROUP = 6;

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
	 * Returns whether the index is behind another digit, or behind the point of a
	 * fraction that begins with zero. Any other point or comma may separate a list.
	 */
	private static boolean isInsideOfNumber(CharSequence text, int start) {
		return isDigit(text, start - 1) || (start > 1 && text.charAt(start - 1) == '.' && text.charAt(start - 2) == '0'
				&& !isDigit(text, start - 3) && !isPoint(text, start - 3));
	}

	private static boolean isPoint(CharSequence text, int index) {
		return index >= 0 && (text.charAt(index) == '.' || text.charAt(index) == ',');
	}

	/**
	 * Returns the end of the longest card number that begins here.
	 * @return -1 if there is none
	 */
	private static int longest(CharSequence text, int start, int to) {
		int found = -1;
		// each second digit is doubled, from the first digit or from the second
		int[] sums = new int[2];
		Groups groups = new Groups();
		int i = start;
		for (int count = 1; count <= MOST && i < to; count++) {
			int digit = Character.digit(text.charAt(i), DECIMAL);
			sums[(count - 1) % 2] += doubled(digit);
			sums[count % 2] += digit;
			groups.digit();
			i++;
			if (isDigit(text, i)) {
				continue;
			}
			if (count >= FEWEST && sums[count % 2] % DECIMAL == 0 && groups.mayBeCard()) {
				found = i;
			}
			if (i + 1 >= to || !isSeparator(text.charAt(i)) || !isDigit(text, i + 1)) {
				break;
			}
			groups.end(MORE_SEPARATORS.indexOf(text.charAt(i)) >= 0);
			i++;
		}
		return found;
	}

	private static boolean isSeparator(char character) {
		return SEPARATORS.indexOf(character) >= 0 || MORE_SEPARATORS.indexOf(character) >= 0;
	}

	/**
	 * The lengths of the groups of a number.
	 */
	private static final class Groups {

		/** True if the complete groups are as long as on a card. */
		private boolean printed = true;

		/** True if the groups have to be as long as on a card. */
		private boolean strict;

		private boolean first = true;

		private int size;

		void digit() {
			this.size++;
		}

		void end(boolean strictly) {
			int longest = this.first ? PRINTED_GROUP : LONGEST_PRINTED_GROUP;
			this.printed = this.printed && this.size >= PRINTED_GROUP && this.size <= longest;
			this.strict = this.strict || strictly;
			this.first = false;
			this.size = 0;
		}

		boolean mayBeCard() {
			return !this.strict || (this.printed && this.size <= LONGEST_PRINTED_GROUP);
		}

	}

	private static int doubled(int digit) {
		return (2 * digit < DECIMAL) ? 2 * digit : 2 * digit - DECIMAL + 1;
	}

	private static boolean isDigit(CharSequence text, int index) {
		return index >= 0 && index < text.length() && Character.digit(text.charAt(index), DECIMAL) >= 0;
	}

}
