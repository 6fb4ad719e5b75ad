package io.sessionkit.store;

import java.util.function.ToIntFunction;

/**
 * Estimates the tokens of a text from its characters, without a vocabulary: a letter or
 * space of a Latin text makes a quarter of a token, a digit or sign half of one, a letter
 * of another alphabet half or three quarters, and a character that stands for a syllable
 * or word about a whole one. The parts were chosen by comparison with the vocabulary
 * {@code cl100k_base} ({@code LengthEstimatorTests}).
 */
final class LengthEstimator implements ToIntFunction<String> {

	/** The estimate is summed up in these parts of a token. */
	private static final int PARTS = 12;

	private static final int LETTER = 3;

	private static final int DIGIT_OR_SIGN = 6;

	private static final int WESTERN_ACCENT = 5;

	private static final int OTHER_ACCENT = 14;

	private static final int CYRILLIC = 6;

	private static final int OTHER_ALPHABET = 9;

	private static final int SYLLABLE = 13;

	/** The parts of each ASCII character. */
	private static final byte[] ASCII = new byte[128];

	static {
		for (char c = 0; c < ASCII.length; c++) {
			ASCII[c] = (byte) ((Character.isLetter(c) || c == ' ') ? LETTER : DIGIT_OR_SIGN);
		}
	}

	@Override
	public int applyAsInt(String text) {
		long parts = 0;
		for (int i = 0; i < text.length(); i++) {
			char c = text.charAt(i);
			parts += (c < ASCII.length) ? ASCII[c] : parts(c);
		}
		return (int) Math.min((parts + PARTS - 1) / PARTS, Integer.MAX_VALUE);
	}

	private static int parts(char c) {
		if (c < '\u0100') {
			return WESTERN_ACCENT;
		}
		if (c < '\u0370') {
			return OTHER_ACCENT;
		}
		if (c < '\u0800') {
			return (c >= '\u0400' && c < '\u0530') ? CYRILLIC : OTHER_ALPHABET;
		}
		return SYLLABLE;
	}

}
