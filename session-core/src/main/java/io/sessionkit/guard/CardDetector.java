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
		int i = nextDigit(text, from, to);
		while (i < to) {
			int end = isInsideOfNumber(text, i) ? -1 : longest(text, i, to);
			if (end > 0) {
				return new Span(i, end);
			}
			i = nextDigit(text, endOfDigits(text, i, to), to);
		}
		return null;
	}

	private static int nextDigit(CharSequence text, int from, int to) {
		int i = from;
		while (i < to && !isDigit(text, i)) {
			i++;
		}
		return i;
	}

	private static int endOfDigits(CharSequence text, int from, int to) {
		int i = from;
		while (i < to && isDigit(text, i)) {
			i++;
		}
		return i;
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
		Digits digits = new Digits();
		int end = digits.addGroup(text, start, to);
		while (isSeparated(text, end, to) && digits.hasRoom()) {
			found = digits.mayBeCard() ? end : found;
			digits.endGroup(text.charAt(end));
			end = digits.addGroup(text, end + 1, to);
		}
		return (!isDigit(text, end) && digits.mayBeCard()) ? end : found;
	}

	private static boolean isSeparated(CharSequence text, int index, int to) {
		return index + 1 < to && isSeparator(text.charAt(index)) && isDigit(text, index + 1);
	}

	private static boolean isSeparator(char character) {
		return SEPARATORS.indexOf(character) >= 0 || MORE_SEPARATORS.indexOf(character) >= 0;
	}

	/**
	 * The digits of a number: their sums and the lengths of their groups.
	 */
	private static final class Digits {

		/** Each second digit is doubled, from the first digit or from the second. */
		private final int[] sums = new int[2];

		private int count;

		/** True if the complete groups are as long as on a card. */
		private boolean printed = true;

		/** True if the groups have to be as long as on a card. */
		private boolean strict;

		private boolean first = true;

		/** The length of the last group. */
		private int size;

		boolean hasRoom() {
			return this.count < MOST;
		}

		/**
		 * Adds the digits of a group, as far as there is room.
		 * @return the end of the digits that were added
		 */
		int addGroup(CharSequence text, int start, int to) {
			int i = start;
			while (hasRoom() && i < to && isDigit(text, i)) {
				add(Character.digit(text.charAt(i), DECIMAL));
				i++;
			}
			return i;
		}

		private void add(int digit) {
			this.sums[this.count % 2] += doubled(digit);
			this.count++;
			this.sums[this.count % 2] += digit;
			this.size++;
		}

		void endGroup(char separator) {
			int longest = this.first ? PRINTED_GROUP : LONGEST_PRINTED_GROUP;
			this.printed = this.printed && this.size >= PRINTED_GROUP && this.size <= longest;
			this.strict = this.strict || MORE_SEPARATORS.indexOf(separator) >= 0;
			this.first = false;
			this.size = 0;
		}

		boolean mayBeCard() {
			return this.count >= FEWEST && this.sums[this.count % 2] % DECIMAL == 0
					&& (!this.strict || (this.printed && this.size <= LONGEST_PRINTED_GROUP));
		}

	}

	private static int doubled(int digit) {
		return (2 * digit < DECIMAL) ? 2 * digit : 2 * digit - DECIMAL + 1;
	}

	private static boolean isDigit(CharSequence text, int index) {
		return index >= 0 && index < text.length() && Character.digit(text.charAt(index), DECIMAL) >= 0;
	}

}
