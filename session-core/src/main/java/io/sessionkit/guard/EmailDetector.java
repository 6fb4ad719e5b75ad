package io.sessionkit.guard;

import org.jspecify.annotations.Nullable;

/**
 * Finds e-mail addresses in letters of any script. It moves from one {@code @} to the
 * next and searches to the left and to the right of each. Both searches end at another
 * {@code @}, so that each character is read a few times at most. Quoted local parts,
 * hosts without a point, addresses that are spelled out ("ada at example dot org") and
 * addresses with HTML entities are not found.
 * <p>
 * A local part begins behind the last of the signs {@code = / ? ^ * { | }} and the
 * backtick: in {@code to=ada@example.org} the name {@code to} stays. So does what stands
 * before them in a local part, as {@code ada} in
 * {@code bounces+ada=example.org@lists.example.com}.
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
			int plain = endWithoutUnderscores(text, label, to);
			int last = withoutHyphens(text, label, plain);
			found = (label > from && isTopLevel(text, label, last)) ? last : found;
			int end = endOfLabel(text, plain, to);
			label = mayBeContinued(text, label, end, to) ? end + 1 : to;
		}
		return (found <= to) ? found : -1;
	}

	private static int endWithoutUnderscores(CharSequence text, int label, int to) {
		int end = label;
		while (end < to && isInLabel(text, end) && text.charAt(end) != '_') {
			end += width(text, end);
		}
		return end;
	}

	private static int endOfLabel(CharSequence text, int from, int to) {
		int end = from;
		while (end < to && isInLabel(text, end)) {
			end += width(text, end);
		}
		return end;
	}

	private static boolean mayBeContinued(CharSequence text, int label, int end, int to) {
		return end < to && text.charAt(end) == '.' && text.charAt(end - 1) != '-' && text.charAt(label) != '-';
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
