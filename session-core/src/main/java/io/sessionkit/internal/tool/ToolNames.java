package io.sessionkit.internal.tool;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Compares names of tools to find misspelled ones.
 */
public final class ToolNames {

	private static final Pattern NO_LETTER_OR_DIGIT = Pattern.compile("[^\\p{L}\\p{N}]+");

	/**
	 * The beginning of a word in a name like {@code cancelOrder} or {@code getURLParts}.
	 */
	private static final Pattern HUMP = Pattern
		.compile("(?<=[\\p{Ll}\\p{N}])(?=\\p{Lu})|(?<=\\p{Lu})(?=\\p{Lu}\\p{Ll})");

	private static final Pattern NO_DIGIT = Pattern.compile("\\P{N}+");

	/** The length from which a word can have a plural. */
	private static final int SHORTEST_PLURAL = 4;

	/**
	 * The length from which a name may have a typo. In shorter names every letter counts.
	 */
	private static final int ONE_TYPO = 5;

	/** The length from which a name may have two typos. */
	private static final int TWO_TYPOS = 12;

	private ToolNames() {
	}

	/**
	 * Returns whether one of two different names is probably a misspelling of the other.
	 * It is if the names differ only in case, separators, the order of words or a plural,
	 * or in one letter (none in names of fewer than 5 letters, two in names of 12 letters
	 * or more). A digit or the first letter of a word is never taken for a typo, since
	 * {@code get_order} and {@code set_order} are two tools.
	 */
	public static boolean areAlike(String one, String other) {
		List<String> words = words(one);
		List<String> others = words(other);
		String joined = String.join("", words);
		String otherJoined = String.join("", others);
		if (joined.equals(otherJoined) || sorted(words).equals(sorted(others))) {
			return true;
		}
		return digits(one).equals(digits(other)) && haveSameInitials(words, others)
				&& distance(joined, otherJoined) <= allowedTypos(Math.max(joined.length(), otherJoined.length()));
	}

	private static List<String> words(String name) {
		String split = HUMP.matcher(NO_LETTER_OR_DIGIT.matcher(name).replaceAll(" ")).replaceAll(" ");
		return Arrays.stream(split.strip().split(" +")).map((word) -> singular(word.toLowerCase(Locale.ROOT))).toList();
	}

	private static String singular(String word) {
		boolean plural = word.length() >= SHORTEST_PLURAL && word.endsWith("s") && !word.endsWith("ss");
		return plural ? word.substring(0, word.length() - 1) : word;
	}

	private static List<String> sorted(List<String> words) {
		return words.stream().sorted().toList();
	}

	private static String digits(String name) {
		return NO_DIGIT.matcher(name).replaceAll(" ").strip();
	}

	/**
	 * Returns whether the words begin with the same letters. Names with different numbers
	 * of words are compared as a whole.
	 */
	private static boolean haveSameInitials(List<String> words, List<String> others) {
		if (words.size() != others.size()) {
			return true;
		}
		for (int i = 0; i < words.size(); i++) {
			if (!words.get(i).regionMatches(0, others.get(i), 0, 1)) {
				return false;
			}
		}
		return true;
	}

	private static int allowedTypos(int length) {
		return (length < ONE_TYPO) ? 0 : (length < TWO_TYPOS) ? 1 : 2;
	}

	/**
	 * Returns how many letters have to be inserted, left out, replaced or swapped with
	 * their neighbour.
	 */
	private static int distance(String one, String other) {
		int[][] steps = new int[one.length() + 1][other.length() + 1];
		for (int i = 0; i <= one.length(); i++) {
			for (int j = 0; j <= other.length(); j++) {
				steps[i][j] = (i == 0 || j == 0) ? i + j : Math.min(Math.min(steps[i - 1][j], steps[i][j - 1]) + 1,
						steps[i - 1][j - 1] + ((one.charAt(i - 1) == other.charAt(j - 1)) ? 0 : 1));
				if (i > 1 && j > 1 && one.charAt(i - 1) == other.charAt(j - 2)
						&& one.charAt(i - 2) == other.charAt(j - 1)) {
					steps[i][j] = Math.min(steps[i][j], steps[i - 2][j - 2] + 1);
				}
			}
		}
		return steps[one.length()][other.length()];
	}

}
