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
		if (end - start > LONGEST_V4) {
			return false;
		}
		int numbers = 0;
		int i = start;
		while (i < end) {
			int last = end(text, i, end, IpDetector::isDigit);
			int number = 0;
			for (int k = i; k < last; k++) {
				number = number * DECIMAL + text.charAt(k) - '0';
			}
			if (last == i || last - i > 3 || number > LARGEST) {
				return false;
			}
			numbers++;
			i = last + 1;
		}
		return numbers == 4 && isDigit(text.charAt(end - 1));
	}

	/**
	 * Returns the address in a run of hexadecimal digits, colons and points, without the
	 * characters that belong to the sentence or to the word around it.
	 */
	private static @Nullable Span v6(CharSequence text, int runStart, int runEnd) {
		int end = runEnd;
		while (end > runStart && text.charAt(end - 1) == '.') {
			end--;
		}
		if (end - runStart > 1 && text.charAt(end - 1) == ':' && text.charAt(end - 2) != ':') {
			end--;
		}
		int start = start(text, runStart, end);
		int point = end(text, start, end, (c) -> c != '.');
		if (point < end && isFree(text, start, end) && isV6(text, start, end)) {
			return new Span(start, end);
		}
		boolean free = isFree(text, start, (point < end) ? start : end);
		return (free && isV6(text, start, point)) ? new Span(start, point) : null;
	}

	private static int start(CharSequence text, int runStart, int end) {
		int start = runStart;
		if (start > 0 && isWord(text.charAt(start - 1))) {
			start = end(text, start, end, (c) -> c != ':');
		}
		boolean single = start + 1 < end && text.charAt(start) == ':' && text.charAt(start + 1) != ':';
		return single ? start + 1 : start;
	}

	private static boolean isV6(CharSequence text, int start, int end) {
		if (end - start > LONGEST_V6) {
			return false;
		}
		int groups = 0;
		boolean shortened = false;
		int i = start;
		while (i < end) {
			if (text.charAt(i) == ':') {
				boolean gap = i + 1 < end && text.charAt(i + 1) == ':';
				if (gap ? shortened : i == start) {
					return false;
				}
				shortened = shortened || gap;
				i += gap ? 2 : 1;
				if (i < end ? !isHexDigit(text.charAt(i)) : !gap) {
					return false;
				}
				continue;
			}
			int last = end(text, i, end, IpDetector::isHexDigit);
			if (last < end && text.charAt(last) == '.') {
				groups += 2;
				return isV4(text, i, end) && isWhole(groups, shortened);
			}
			if (last - i > LONGEST_GROUP || last == i) {
				return false;
			}
			groups++;
			i = last;
		}
		return groups > 0 && isWhole(groups, shortened);
	}

	private static boolean isWhole(int groups, boolean shortened) {
		return shortened ? groups < GROUPS : groups == GROUPS;
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
