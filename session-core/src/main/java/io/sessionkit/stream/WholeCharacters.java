package io.sessionkit.stream;

/**
 * Makes pieces of a text end with a whole character: the first half of one is kept until
 * the second one comes. Not safe for use by many threads.
 */
final class WholeCharacters {

	private String half = "";

	/** Returns the piece with what was kept before it, and without what is kept now. */
	String add(String piece) {
		if (piece.isEmpty()) {
			return "";
		}
		String whole = this.half + piece;
		int end = Character.isHighSurrogate(whole.charAt(whole.length() - 1)) ? whole.length() - 1 : whole.length();
		this.half = whole.substring(end);
		return whole.substring(0, end);
	}

	/**
	 * Returns what stands for a half whose other one never came; empty if all are whole.
	 */
	String end() {
		String rest = this.half.isEmpty() ? "" : "\uFFFD";
		this.half = "";
		return rest;
	}

}
