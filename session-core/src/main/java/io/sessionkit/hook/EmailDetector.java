package io.sessionkit.hook;

import org.jspecify.annotations.Nullable;

/**
 * Finds e-mail addresses, in letters of any script. It goes from one {@code @} to the
 * next and looks to the left and to the right of each; both ways end at another
 * {@code @}, so that each character is looked at a few times at most.
 */
final class EmailDetector implements Detector {

	private static final String LOCAL = "._%+-'&#~!$";

	@Override
	public @Nullable Span find(CharSequence text, int from, int to) {
		for (int at = from; at < to; at++) {
			if (text.charAt(at) == '@') {
				int start = local(text, from, at);
				int end = (start < at) ? domain(text, at + 1, to) : -1;
				if (end > 0) {
					return new Span(start, end);
				}
			}
		}
		return null;
	}

	private static int local(CharSequence text, int from, int at) {
		int start = at;
		while (start > from && isLocal(text.charAt(start - 1))) {
			start--;
		}
		while (start < at && !isLetterOrDigit(text.charAt(start)) && text.charAt(start) != '_') {
			start++;
		}
		return start;
	}

	private static boolean isLocal(char c) {
		return isLetterOrDigit(c) || LOCAL.indexOf(c) >= 0;
	}

	/**
	 * The end of the longest name of at least two labels, the last of which is like a top
	 * level domain.
	 * @return -1 if there is none
	 */
	private static int domain(CharSequence text, int from, int to) {
		int found = -1;
		int label = from;
		while (label < to && isLetterOrDigit(text.charAt(label))) {
			int end = label;
			while (end < to && (isLetterOrDigit(text.charAt(end)) || text.charAt(end) == '-')) {
				end++;
			}
			int last = end;
			while (text.charAt(last - 1) == '-') {
				last--;
			}
			if (label > from && last - label > 1 && Character.isLetter(text.charAt(label))) {
				found = last;
			}
			if (last < end || end >= to || text.charAt(end) != '.') {
				break;
			}
			label = end + 1;
		}
		return found;
	}

	private static boolean isLetterOrDigit(char c) {
		return Character.isLetterOrDigit(c) || isMark(c);
	}

	private static boolean isMark(char c) {
		int type = Character.getType(c);
		return type == Character.NON_SPACING_MARK || type == Character.COMBINING_SPACING_MARK;
	}

}
