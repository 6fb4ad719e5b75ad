package io.sessionkit.guard;

import org.jspecify.annotations.Nullable;

/**
 * Finds one kind of text. What is around the part that is searched is seen, so that half
 * of a number is not taken for a whole one. Each takes a number of steps that grows with
 * the length of the text and not faster.
 */
interface Detector {

	/**
	 * The first match in a part of a text.
	 * @param text the text
	 * @param from where the part begins
	 * @param to where it ends
	 * @return the match; null if there is none
	 */
	@Nullable Span find(CharSequence text, int from, int to);

	/**
	 * Where a match is: never empty.
	 *
	 * @param start its first character
	 * @param end the one behind its last
	 */
	record Span(int start, int end) {

		int length() {
			return this.end - this.start;
		}

	}

}
