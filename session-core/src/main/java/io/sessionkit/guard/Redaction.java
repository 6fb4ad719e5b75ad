package io.sessionkit.guard;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.sessionkit.guard.Detector.Span;
import org.jspecify.annotations.Nullable;

/**
 * Removes the matches of detectors from texts. Of overlapping matches the one that starts
 * first is used; of those the longest; of those the one of the first detector. The rest
 * of another match is searched again. Placeholders are not searched, and patterns that
 * mask do not mask the end that a mask has left. Redacting a redacted text changes
 * nothing.
 */
final class Redaction {

	/** The start of a text that may be a JSON document. */
	private static final Pattern DOCUMENT = Pattern.compile("\\s*+[{\\[]");

	/** The characters that are escaped in JSON. */
	private static final Pattern ESCAPED = Pattern.compile("[\"\\\\\\p{Cntrl}]");

	/**
	 * An action on the matches of a detector.
	 */
	record Rule(String name, Detector detector, Redactor.Action action) {

		String placeholder() {
			return "[" + this.name + "]";
		}

	}

	private final List<Rule> rules;

	private final Pattern placeholders;

	Redaction(List<Rule> rules) {
		this.rules = List.copyOf(rules);
		this.placeholders = Pattern.compile(
				rules.stream().map(Rule::placeholder).distinct().map(Pattern::quote).collect(Collectors.joining("|")));
	}

	/**
	 * Returns the name of the first detector that blocks one of the texts.
	 */
	Optional<String> blocking(List<String> texts) {
		return this.rules.stream()
			.filter((rule) -> rule.action() == Redactor.Action.BLOCK)
			.filter((rule) -> texts.stream().anyMatch((text) -> isIn(rule, text)))
			.map(Rule::name)
			.findFirst();
	}

	/**
	 * Returns whether the detector of a rule finds a match. Searches the same parts of a
	 * text as {@link #text} and {@link #data}.
	 */
	private boolean isIn(Rule rule, String text) {
		JsonText json = JsonText.parse(text);
		if (json != null && json.values().stream().anyMatch((value) -> !value.equals(text) && isIn(rule, value))) {
			return true;
		}
		if (json != null && DOCUMENT.matcher(text).lookingAt()) {
			return false;
		}
		Reading reading = Reading.of(text);
		return rule.detector().find(text, 0, text.length()) != null
				|| (reading != null && reading.find(rule.detector(), 0, text.length()) != null);
	}

	/**
	 * Returns a text without the matches of detectors. If it is a JSON document, only its
	 * strings and numbers are searched. Any other text is searched as written and as
	 * decoded, so that an escape hides nothing.
	 */
	String text(String text) {
		String before = text;
		String now = once(text);
		while (!now.equals(before)) {
			before = now;
			now = once(now);
		}
		return now;
	}

	/**
	 * Returns arguments or results of a tool without the matches of detectors. JSON stays
	 * JSON.
	 */
	String data(String data) {
		JsonText json = JsonText.parse(data);
		return (json != null) ? json.map(this::text) : text(data);
	}

	private String once(String text) {
		JsonText json = DOCUMENT.matcher(text).lookingAt() ? JsonText.parse(text) : null;
		return (json != null) ? json.map(this::text) : plain(text);
	}

	private String plain(String text) {
		List<Search> searches = searches(text);
		StringBuilder result = new StringBuilder(text.length());
		Matcher placeholder = this.placeholders.matcher(text);
		int done = 0;
		while (placeholder.find()) {
			replace(searches, text, done, placeholder.start(), result);
			result.append(text, placeholder.start(), placeholder.end());
			done = placeholder.end();
		}
		replace(searches, text, done, text.length(), result);
		return result.toString();
	}

	/**
	 * Returns the searches of each rule: in the text as written and, if that differs, as
	 * decoded.
	 */
	private List<Search> searches(String text) {
		Reading reading = Reading.of(text);
		Mask mask = new Mask(text);
		List<Search> searches = new ArrayList<>();
		for (Rule rule : this.rules) {
			searches.add(new Search(rule, text, null, mask));
			if (reading != null) {
				searches.add(new Search(rule, text, reading, mask));
			}
		}
		return searches;
	}

	private static void replace(List<Search> searches, String text, int from, int to, StringBuilder result) {
		@Nullable Span[] next = matches(searches, from, to);
		int done = from;
		for (int first = first(next); first >= 0; first = first(next)) {
			Span match = Objects.requireNonNull(next[first]);
			result.append(text, done, match.start()).append(searches.get(first).replacement(match));
			done = match.end();
			searchAgain(searches, next, done, to);
		}
		result.append(text, done, to);
	}

	/**
	 * Returns the first match of each search.
	 */
	private static @Nullable Span[] matches(List<Search> searches, int from, int to) {
		@Nullable Span[] matches = new @Nullable Span[searches.size()];
		for (int i = 0; i < matches.length; i++) {
			matches[i] = searches.get(i).find(from, to);
		}
		return matches;
	}

	/**
	 * Returns the index of the search whose match is replaced first.
	 * @return -1 if there is no match
	 */
	private static int first(@Nullable Span[] matches) {
		int first = -1;
		Span best = null;
		for (int i = 0; i < matches.length; i++) {
			if (isBetter(matches[i], best)) {
				first = i;
				best = matches[i];
			}
		}
		return first;
	}

	private static boolean isBetter(@Nullable Span match, @Nullable Span best) {
		return match != null && (best == null || match.start() < best.start()
				|| (match.start() == best.start() && match.length() > best.length()));
	}

	/**
	 * Replaces the matches that begin in the part of the text that is done.
	 */
	private static void searchAgain(List<Search> searches, @Nullable Span[] matches, int done, int to) {
		for (int i = 0; i < matches.length; i++) {
			Span match = matches[i];
			if (match != null && match.start() < done) {
				matches[i] = searches.get(i).find(done, to);
			}
		}
	}

	/**
	 * The search of one rule in a text.
	 */
	private record Search(Rule rule, String text, @Nullable Reading reading, Mask mask) {

		/**
		 * Returns the next match. A pattern that masks skips the end that a mask has
		 * left.
		 */
		@Nullable Span find(int from, int to) {
			boolean masks = this.rule.action() == Redactor.Action.MASK
					&& this.rule.detector() instanceof PatternDetector;
			Span match = any(from, to);
			while (masks && match != null && this.mask.hasLeft(match)) {
				match = any(match.start() + 1, to);
			}
			return match;
		}

		private @Nullable Span any(int from, int to) {
			return (this.reading != null) ? this.reading.find(this.rule.detector(), from, to)
					: this.rule.detector().find(this.text, from, to);
		}

		/**
		 * Returns the replacement of a match. Matches that block get here in the history
		 * only, where it is too late to block them. A match is replaced as a whole if its
		 * mask would keep characters that are escaped.
		 */
		String replacement(Span match) {
			String written = this.text.substring(match.start(), match.end());
			String read = (this.reading != null) ? this.reading.text(match) : written;
			boolean whole = this.reading != null && ESCAPED.matcher(read).find();
			if (whole || this.rule.action() != Redactor.Action.MASK) {
				return this.rule.placeholder();
			}
			String masked = (this.rule.detector() instanceof EmailDetector) ? Mask.email(read) : Mask.of(read);
			return masked.equals(read) ? written : masked;
		}

	}

}
