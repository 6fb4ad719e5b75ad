package io.sessionkit.internal;

/**
 * Characters that nobody sees: those that Unicode calls default ignorable, whether they
 * count as letters, marks or not yet as anything, and those that only format. The one
 * test of this kind for guards and quotes.
 */
public final class Invisible {

	/**
	 * First and last of each range that is not of the category for formats, or not in
	 * whole.
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
	 * Whether it is a control character that is no white space.
	 */
	public static boolean isControl(int point) {
		return Character.isISOControl(point) && !Character.isWhitespace(point) && point != NEXT_LINE;
	}

	/**
	 * Whether it takes the room of a letter, as fillers of Hangul do.
	 */
	public static boolean isFiller(int point) {
		return Character.isLetter(point) && is(point);
	}

}
