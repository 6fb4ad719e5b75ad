package io.sessionkit.guard;

import org.jspecify.annotations.Nullable;

/**
 * Finds one kind of text. A detector sees the text around the part that it searches, so
 * that half of a number is not taken for a whole one. Its number of steps grows linearly
 * with the length of the text.
 */
interface Detector {

	/**
	 * Returns the first match in a part of a text.
	 * @param text the text
	 * @param from the start of the part
	 * @param to the end of the part, exclusive
	 * @return the match; null if there is none
	 */
	@Nullable Span find(CharSequence text, int from, int to);

	/**
	 * The place of a match, which is never empty.
	 *
	 * @param start the index of its first character
	 * @param end the index behind its last character
	 */
	record Span(int start, int end) {

		int length() {
			return this.end - this.start;
		}

	}

}
