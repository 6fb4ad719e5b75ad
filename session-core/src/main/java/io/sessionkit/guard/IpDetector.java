package io.sessionkit.guard;

import java.util.function.IntPredicate;

import org.jspecify.annotations.Nullable;

/**
 * Finds IP addresses. Both kinds search whole runs of the characters that an address can
 * have, and skip a run that is no address, so that each character is read a few times at
 * most. Only ASCII digits, letters and points count; a {@link Reading} has no others.
 */
enum IpDetector implements Detector {

	/** Finds four numbers up to 255 that are not part of a longer chain of numbers. */
	V4 {

		@Override
		public @Nullable Span find(CharSequence text, int from, int to) {
			int i = from;
			while (i < to) {
				int end = chain(text, i, to);
				if (end > i && isFree(text, i, end) && isV4(text, i, end)) {
					return new Span(i, end);
				}
				i = Math.max(end, i + 1);
			}
			return null;
		}

	},

	/**
	 * Finds groups of hexadecimal digits, shortened or not, which may end with an IPv4
	 * address.
	 */
	V6 {

		@Override
		public @Nullable Span find(CharSequence text, int from, int to) {
			int i = from;
			while (i < to) {
				int end = end(text, i, to, IpDetector::isInV6);
				Span address = (end > i) ? v6(text, i, end) : null;
				if (address != null) {
					return address;
				}
				i = Math.max(end, i + 1);
			}
			return null;
		}

	};

	private static final int LONGEST_V4 = "255.255.255.255".length();

	private static final int LONGEST_V6 = "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255".length();

	private static final int GROUPS = 8;

	private static final int LONGEST_GROUP = 4;

	private static final int LARGEST = 255;

	private static final int DECIMAL = 10;

	/**
	 * Returns the end of a chain of numbers that are joined by single points.
	 */
	private static int chain(CharSequence text, int from, int to) {
		int end = end(text, from, to, IpDetector::isDigit);
		while (end > from && end + 1 < to && text.charAt(end) == '.' && isDigit(text.charAt(end + 1))) {
			end = end(text, end + 1, to, IpDetector::isDigit);
		}
		return end;
	}

	private static boolean isV4(CharSequence text, int start, int end) {
		return end - start <= LONGEST_V4 && numbers(text, start, end) == 4 && isDigit(text.charAt(end - 1));
	}

	/**
	 * Counts the numbers of a chain.
	 * @return -1 if one is missing or too large
	 */
	private static int numbers(CharSequence text, int start, int end) {
		int numbers = 0;
		for (int i = start; i < end; numbers++) {
			int last = end(text, i, end, IpDetector::isDigit);
			if (!isByte(text, i, last)) {
				return -1;
			}
			i = last + 1;
		}
		return numbers;
	}

	private static boolean isByte(CharSequence text, int start, int end) {
		if (end == start || end - start > 3) {
			return false;
		}
		int number = 0;
		for (int i = start; i < end; i++) {
			number = number * DECIMAL + text.charAt(i) - '0';
		}
		return number <= LARGEST;
	}

	/**
	 * Returns the address in a run of hexadecimal digits, colons and points, without the
	 * characters that belong to the sentence or to the word around it.
	 */
	private static @Nullable Span v6(CharSequence text, int runStart, int runEnd) {
		int end = trimmedEnd(text, runStart, runEnd);
		int start = start(text, runStart, end);
		int point = end(text, start, end, (c) -> c != '.');
		if (point < end && isFree(text, start, end) && isV6(text, start, end)) {
			return new Span(start, end);
		}
		boolean free = isFree(text, start, (point < end) ? start : end);
		return (free && isV6(text, start, point)) ? new Span(start, point) : null;
	}

	private static int trimmedEnd(CharSequence text, int runStart, int runEnd) {
		int end = runEnd;
		while (end > runStart && text.charAt(end - 1) == '.') {
			end--;
		}
		boolean single = end - runStart > 1 && text.charAt(end - 1) == ':' && text.charAt(end - 2) != ':';
		return single ? end - 1 : end;
	}

	private static int start(CharSequence text, int runStart, int end) {
		int start = runStart;
		if (start > 0 && isWord(text.charAt(start - 1))) {
			start = end(text, start, end, (c) -> c != ':');
		}
		boolean single = start + 1 < end && text.charAt(start) == ':' && text.charAt(start + 1) != ':';
		return single ? start + 1 : start;
	}

	/**
	 * Returns whether the part is a whole address: eight groups, or fewer of them before
	 * and behind two colons.
	 */
	private static boolean isV6(CharSequence text, int start, int end) {
		if (end - start > LONGEST_V6) {
			return false;
		}
		int gap = gap(text, start, end);
		if (gap < 0) {
			return groups(text, start, end) == GROUPS;
		}
		int before = groups(text, start, gap);
		int behind = groups(text, gap + 2, end);
		return before >= 0 && behind >= 0 && before + behind > 0 && before + behind < GROUPS;
	}

	/**
	 * Returns the index of the first two colons in front of all points.
	 * @return -1 if there are none
	 */
	private static int gap(CharSequence text, int start, int end) {
		for (int i = start; i + 1 < end && text.charAt(i) != '.'; i++) {
			if (text.charAt(i) == ':' && text.charAt(i + 1) == ':') {
				return i;
			}
		}
		return -1;
	}

	/**
	 * Counts the groups that single colons join. An IPv4 address, which is longer than
	 * any group, counts as two.
	 * @return -1 if there is anything else
	 */
	private static int groups(CharSequence text, int from, int to) {
		int groups = 0;
		for (int i = from; i < to; i++) {
			int end = group(text, i, to);
			if (end < 0) {
				return -1;
			}
			groups += (end - i > LONGEST_GROUP) ? 2 : 1;
			i = end;
		}
		return groups;
	}

	/**
	 * Returns the end of the group that begins here, or of an IPv4 address up to the end.
	 * @return -1 if there is neither, or if nothing follows the colon behind the group
	 */
	private static int group(CharSequence text, int start, int to) {
		int end = end(text, start, to, IpDetector::isHexDigit);
		if (end < to && text.charAt(end) == '.') {
			return isV4(text, start, to) ? to : -1;
		}
		boolean whole = end > start && end - start <= LONGEST_GROUP;
		return (whole && end + 1 != to) ? end : -1;
	}

	/**
	 * Returns whether the part neither ends nor starts a word or a chain of numbers.
	 */
	private static boolean isFree(CharSequence text, int start, int end) {
		if (start > 0 && isWord(text.charAt(start - 1))) {
			return false;
		}
		if (start > 1 && text.charAt(start - 1) == '.' && isDigit(text.charAt(start - 2))) {
			return false;
		}
		return end == start || end >= text.length() || !isWord(text.charAt(end));
	}

	private static int end(CharSequence text, int from, int to, IntPredicate part) {
		int end = from;
		while (end < to && part.test(text.charAt(end))) {
			end++;
		}
		return end;
	}

	private static boolean isInV6(int c) {
		return isHexDigit(c) || c == ':' || c == '.';
	}

	private static boolean isHexDigit(int c) {
		return isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
	}

	private static boolean isWord(int c) {
		return isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
	}

	private static boolean isDigit(int c) {
		return c >= '0' && c <= '9';
	}

}
