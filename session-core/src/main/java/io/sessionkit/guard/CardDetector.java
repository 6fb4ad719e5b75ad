package io.sessionkit.guard;

import org.jspecify.annotations.Nullable;

/**
 * Finds numbers of payment cards: 13 to 19 digits whose check digit is right (Luhn), with
 * single spaces or hyphens between groups of them, or with points, underscores and
 * slashes too where the groups are as long as on a card: four digits, then groups of four
 * to six, the last of one to six. These signs also part dates, versions and names of
 * files. About one in ten other numbers of that length has a right check digit too,
 * decimals of them included; only what follows {@code 0.} is none.
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

	/** What parts groups that are as long as on a card. */
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
	 * How long the groups of a number are.
	 */
	private static final class Groups {

		/** Whether those that have ended are as long as on a card. */
		private boolean printed = true;

		/** Whether they have to be. */
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
