package io.sessionkit.autoconfigure.check;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToIntFunction;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.sessionkit.autoconfigure.SessionKitProperties;
import io.sessionkit.autoconfigure.check.KnownProperties.Property;

/**
 * Finds the property that a misspelt name stands for.
 */
final class Spelling {

	/**
	 * A name counts as a misspelling of another if at most one letter in this many is
	 * wrong.
	 */
	private static final int LETTERS_PER_TYPO = 3;

	private static final int TYPOS_IN_PREFIX = 1;

	/** Where more letters are wrong, a word was chosen, and not misspelt. */
	private static final int TYPOS_IN_WORDS = 3;

	/** The length of the shortest part of a name that can stand for the whole. */
	private static final int SHORTEST_PART = 4;

	private static final int SHORTEST = SessionKitProperties.PREFIX.length() + SHORTEST_PART;

	private static final Pattern INDEX_AT_THE_END = Pattern.compile("[\\[_.]\\d+]?$");

	private static final Pattern SEPARATOR = Pattern.compile("[^\\p{L}\\p{N}]");

	/** Made once: each name of an application's environment is compared with all. */
	private static final List<Known> KNOWN = KnownProperties.ALL.all().stream().map(Known::of).toList();

	/**
	 * A property, the letters of its name and its words.
	 */
	private record Known(Property property, String letters, Set<String> words) {

		static Known of(Property property) {
			return new Known(property, Spelling.letters(property.name()), Spelling.words(property.name()));
		}

	}

	private Spelling() {
	}

	/**
	 * Returns the property with the most similar name.
	 * @param name a name that begins with the prefix
	 * @return the property; empty if none is similar
	 */
	static Optional<Property> nearest(String name) {
		String written = letters(name);
		Set<String> words = words(name);
		return KNOWN.stream()
			.filter((known) -> isLike(written, known.letters())
					|| written.length() >= SHORTEST && known.words().containsAll(words))
			.min(byLikeness(written))
			.map(Known::property);
	}

	/**
	 * A word that was chosen instead of another begins like that rather than ends so,
	 * such as that of an earlier version: notifications for notices.
	 */
	private static Comparator<Known> byLikeness(String written) {
		ToIntFunction<Known> distance = (known) -> distance(written, known.letters());
		return Comparator.<Known>comparingInt((known) -> Math.min(distance.applyAsInt(known), TYPOS_IN_WORDS + 1))
			.thenComparingInt((known) -> -sameBeginning(written, known.letters()))
			.thenComparingInt(distance);
	}

	private static int sameBeginning(String one, String other) {
		int same = 0;
		while (same < Math.min(one.length(), other.length()) && one.charAt(same) == other.charAt(same)) {
			same++;
		}
		return same;
	}

	/**
	 * Returns the property that a name is a misspelling of, by a few letters. Parts of
	 * names are not considered.
	 * @param name a name that begins with the prefix
	 * @return the property; empty if none is similar
	 */
	static Optional<Property> misspelt(String name) {
		String written = letters(name);
		return KNOWN.stream()
			.filter((known) -> isNear(written, known.letters()))
			.min(byLikeness(written))
			.map(Known::property);
	}

	/**
	 * Returns the property with the same letters as a name that has another prefix.
	 * @param name any name
	 * @return the property; empty if the name belongs to something else
	 */
	static Optional<Property> sameLetters(String name) {
		String written = letters(name);
		return KNOWN.stream().filter((known) -> known.letters().equals(written)).map(Known::property).findFirst();
	}

	/**
	 * Returns the property of a name whose prefix alone is misspelt.
	 * @param name any name
	 * @return the property; empty if the name belongs to something else
	 */
	static Optional<Property> withAnotherPrefix(String name) {
		int end = name.indexOf('.');
		String prefix = (end > 0) ? letters(name.substring(0, end)) : "";
		return (distance(prefix, SessionKitProperties.PREFIX) <= TYPOS_IN_PREFIX)
				? sameLetters(SessionKitProperties.PREFIX + name.substring(end)) : sameLetters(name);
	}

	/**
	 * Returns a name in lower case, without separators and without the index of a list.
	 */
	private static String letters(String name) {
		String lower = INDEX_AT_THE_END.matcher(name.toLowerCase(Locale.ROOT)).replaceAll("");
		return SEPARATOR.matcher(lower).replaceAll("");
	}

	private static Set<String> words(String name) {
		return SEPARATOR.splitAsStream(name.toLowerCase(Locale.ROOT)).collect(Collectors.toSet());
	}

	private static boolean isLike(String written, String known) {
		int prefix = SessionKitProperties.PREFIX.length();
		String rest = written.substring(Math.min(prefix, written.length()));
		String knownRest = known.substring(prefix);
		return isNear(written, known)
				|| (written.length() >= SHORTEST && (knownRest.contains(rest) || rest.startsWith(knownRest)));
	}

	private static boolean isNear(String written, String known) {
		int longer = Math.max(written.length(), known.length()) - SessionKitProperties.PREFIX.length();
		return distance(written, known) <= longer / LETTERS_PER_TYPO;
	}

	private static int distance(String one, String other) {
		int[] steps = new int[other.length() + 1];
		for (int j = 0; j <= other.length(); j++) {
			steps[j] = j;
		}
		for (int i = 1; i <= one.length(); i++) {
			int diagonal = steps[0];
			steps[0] = i;
			for (int j = 1; j <= other.length(); j++) {
				int replaced = diagonal + ((one.charAt(i - 1) == other.charAt(j - 1)) ? 0 : 1);
				diagonal = steps[j];
				steps[j] = Math.min(replaced, Math.min(steps[j], steps[j - 1]) + 1);
			}
		}
		return steps[other.length()];
	}

}
