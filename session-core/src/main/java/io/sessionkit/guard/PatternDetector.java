package io.sessionkit.guard;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.sessionkit.internal.Misuse;
import org.jspecify.annotations.Nullable;

/**
 * Finds the matches of an application's pattern.
 *
 * @param name the name of the detector, which it says if the pattern cannot search a text
 */
record PatternDetector(String name, Pattern pattern) implements Detector {

	/**
	 * Finds the first match.
	 * @throws Misuse if the pattern needs more stack than the thread has. The error of
	 * the JVM would say neither which pattern it was nor that the text was not searched
	 */
	@Override
	public @Nullable Span find(CharSequence text, int from, int to) {
		try {
			return match(text, from, to);
		}
		catch (StackOverflowError ex) {
			throw new Misuse("The pattern of the detector '" + this.name + "' needs more stack than its thread has for "
					+ (to - from) + " characters, so the text is not let through. A repeated group takes some for"
					+ " each repetition. Write a character class, [ab]*, or a possessive quantifier, (?:a|b)*+, for"
					+ " (a|b)*.");
		}
	}

	private @Nullable Span match(CharSequence text, int from, int to) {
		Matcher matcher = this.pattern.matcher(text).useTransparentBounds(true).useAnchoringBounds(false);
		matcher.region(from, to);
		while (matcher.find()) {
			if (matcher.end() > matcher.start()) {
				return new Span(matcher.start(), matcher.end());
			}
		}
		return null;
	}

}
