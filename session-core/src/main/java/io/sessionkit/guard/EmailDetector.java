package io.sessionkit.guard;

import org.jspecify.annotations.Nullable;

/**
 * Finds e-mail addresses in letters of any script. It moves from one {@code @} to the
 * next and searches to the left and to the right of each. Both searches end at another
 * {@code @}, so that each character is read a few times at most. Quoted local parts,
 * hosts without a point, addresses that are spelled out ("ada at example dot org") and
 * addresses with HTML entities are not found.
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
		while (start > from && isLocal(Character.codePointBefore(text, start))) {
			start -= Character.charCount(Character.codePointBefore(text, start));
		}
		start = Math.max(start, from);
		while (start < at && !isLetterOrDigit(Character.codePointAt(text, start)) && text.charAt(start) != '_') {
			start++;
		}
		return start;
	}

	private static boolean isLocal(int point) {
		return isLetterOrDigit(point) || LOCAL.indexOf(point) >= 0;
	}

	/**
	 * Returns the end of the longest host name of at least two labels, the last of which
	 * looks like a top level domain. The labels before it may have underscores, as host
	 * names do.
	 * @return -1 if there is none
	 */
	private static int domain(CharSequence text, int from, int to) {
		int found = -1;
		int label = from;
		while (label < to && isInLabel(text, label)) {
			int plain = label;
			while (plain < to && isInLabel(text, plain) && text.charAt(plain) != '_') {
				plain += width(text, plain);
			}
			int last = withoutHyphens(text, label, plain);
			if (label > from && isTopLevel(text, label, last)) {
				found = last;
			}
			int end = plain;
			while (end < to && isInLabel(text, end)) {
				end += width(text, end);
			}
			if (end >= to || text.charAt(end) != '.' || text.charAt(end - 1) == '-' || text.charAt(label) == '-') {
				break;
			}
			label = end + 1;
		}
		return (found <= to) ? found : -1;
	}

	private static boolean isTopLevel(CharSequence text, int start, int end) {
		return end > start && Character.isLetter(Character.codePointAt(text, start))
				&& end > start + width(text, start);
	}

	private static int withoutHyphens(CharSequence text, int start, int end) {
		int last = end;
		while (last > start && text.charAt(last - 1) == '-') {
			last--;
		}
		return last;
	}

	private static boolean isInLabel(CharSequence text, int index) {
		return isLetterOrDigit(Character.codePointAt(text, index)) || text.charAt(index) == '-'
				|| text.charAt(index) == '_';
	}

	private static int width(CharSequence text, int index) {
		return Character.charCount(Character.codePointAt(text, index));
	}

	private static boolean isLetterOrDigit(int point) {
		return Character.isLetterOrDigit(point) || isMark(point);
	}

	private static boolean isMark(int point) {
		int type = Character.getType(point);
		return type == Character.NON_SPACING_MARK || type == Character.COMBINING_SPACING_MARK;
	}

}
