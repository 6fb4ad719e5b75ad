package io.sessionkit.guard;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * Finds the matches of an application's pattern.
 */
record PatternDetector(Pattern pattern) implements Detector {

	@Override
	public @Nullable Span find(CharSequence text, int from, int to) {
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
