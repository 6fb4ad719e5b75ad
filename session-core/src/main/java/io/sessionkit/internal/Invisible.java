package io.sessionkit.internal;

/**
 * Recognizes invisible characters: those that Unicode calls default ignorable, whether
 * they are letters, marks or still unassigned, and those that only format. All guards,
 * quotes and summaries use this one test.
 */
public final class Invisible {

	/**
	 * The first and last code point of each range that is not, or not entirely, in the
	 * category for formats.
	 */
	private static final int[][] RANGES = { { 0x034F, 0x034F }, { 0x115F, 0x1160 }, { 0x17B4, 0x17B5 },
			{ 0x180B, 0x180F }, { 0x2060, 0x206F }, { 0x3164, 0x3164 }, { 0xFE00, 0xFE0F }, { 0xFFA0, 0xFFA0 },
			{ 0xFFF0, 0xFFF8 }, { 0xE0000, 0xE0FFF } };

	private static final int NEXT_LINE = 0x85;

	private Invisible() {
	}

	public static boolean is(int point) {
		if (Character.getType(point) == Character.FORMAT) {
			return true;
		}
		for (int[] range : RANGES) {
			if (point <= range[1]) {
				return point >= range[0];
			}
		}
		return false;
	}

	/**
	 * Returns whether this is a control character and no white space. U+0085 (next line)
	 * counts as white space.
	 */
	public static boolean isControl(int point) {
		return Character.isISOControl(point) && !Character.isWhitespace(point) && point != NEXT_LINE;
	}

	/**
	 * Returns whether this character is invisible but takes the room of a letter, as the
	 * Hangul fillers do.
	 */
	public static boolean isFiller(int point) {
		return Character.isLetter(point) && is(point);
	}

	/**
	 * Returns whether a text has nothing to see in it: it is empty, or only white space,
	 * invisible and control characters.
	 */
	public static boolean isBlank(String text) {
		return text.codePoints()
			.allMatch((point) -> is(point) || isControl(point) || Character.isWhitespace(point)
					|| Character.isSpaceChar(point));
	}

}
