package io.sessionkit.hook;

import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.sessionkit.hook.Detector.Span;
import org.jspecify.annotations.Nullable;

/**
 * Takes out of texts what detectors find. Of matches that overlap the one that starts
 * first is taken, of those the longest, of those the one of the first detector; what is
 * left of another is searched anew. Placeholders are not looked into. Done to a text that
 * it was done to, it changes nothing.
 */
final class Redaction {

	/** Where a text begins so that it may be a JSON document. */
	private static final Pattern DOCUMENT = Pattern.compile("\\s*+[{\\[]");

	/** How many characters of a masked text stay. */
	private static final int KEPT = 4;

	/**
	 * What to do with what a detector finds.
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
	 * The name of the first detector that blocks a text of the message.
	 */
	Optional<String> blocking(List<String> texts) {
		return this.rules.stream()
			.filter((rule) -> rule.action() == Redactor.Action.BLOCK)
			.filter((rule) -> texts.stream().anyMatch((text) -> isIn(rule, text)))
			.map(Rule::name)
			.findFirst();
	}

	private boolean isIn(Rule rule, String text) {
		if (rule.detector().find(text, 0, text.length()) != null) {
			return true;
		}
		JsonText json = (text.indexOf('\\') >= 0) ? JsonText.parse(text) : null;
		return json != null && json.values().stream().anyMatch((value) -> isIn(rule, value));
	}

	/**
	 * A text without what detectors find. Where it is a JSON document, its strings and
	 * numbers are searched first, so that an escape hides nothing.
	 */
	String text(String text) {
		String before = text;
		String now = plain(document(text));
		while (!now.equals(before)) {
			before = now;
			now = plain(document(now));
		}
		return now;
	}

	/**
	 * Arguments or results of a tool without what detectors find: JSON stays JSON.
	 */
	String data(String data) {
		JsonText json = JsonText.parse(data);
		return (json != null) ? json.map(this::text) : text(data);
	}

	private String document(String text) {
		JsonText json = DOCUMENT.matcher(text).lookingAt() ? JsonText.parse(text) : null;
		return (json != null) ? json.map(this::text) : text;
	}

	private String plain(String text) {
		StringBuilder result = new StringBuilder(text.length());
		Matcher placeholder = this.placeholders.matcher(text);
		int done = 0;
		while (placeholder.find()) {
			replace(text, done, placeholder.start(), result);
			result.append(text, placeholder.start(), placeholder.end());
			done = placeholder.end();
		}
		replace(text, done, text.length(), result);
		return result.toString();
	}

	private void replace(String text, int from, int to, StringBuilder result) {
		@Nullable Span[] next = new @Nullable Span[this.rules.size()];
		int done = from;
		search(next, text, done, to);
		for (int first = first(next); first >= 0; first = first(next)) {
			Span match = next[first];
			if (match == null) {
				break;
			}
			result.append(text, done, match.start())
				.append(replacement(this.rules.get(first), text.substring(match.start(), match.end())));
			done = match.end();
			for (int i = 0; i < next.length; i++) {
				Span other = next[i];
				if (other != null && other.start() < done) {
					next[i] = this.rules.get(i).detector().find(text, done, to);
				}
			}
		}
		result.append(text, done, to);
	}

	private void search(@Nullable Span[] next, String text, int from, int to) {
		for (int i = 0; i < next.length; i++) {
			next[i] = this.rules.get(i).detector().find(text, from, to);
		}
	}

	/**
	 * The rule whose match is to be replaced first.
	 * @return -1 if there is no match
	 */
	private static int first(@Nullable Span[] matches) {
		int first = -1;
		Span best = null;
		for (int i = 0; i < matches.length; i++) {
			Span match = matches[i];
			boolean better = match != null && (best == null || match.start() < best.start()
					|| (match.start() == best.start() && match.length() > best.length()));
			if (better) {
				first = i;
				best = match;
			}
		}
		return first;
	}

	/**
	 * What blocks is found here in the history only, where it is too late to block it.
	 */
	private static String replacement(Rule rule, String match) {
		if (rule.action() != Redactor.Action.MASK) {
			return rule.placeholder();
		}
		return (rule.detector() instanceof EmailDetector) ? maskedEmail(match) : masked(match);
	}

	private static String maskedEmail(String address) {
		int at = address.indexOf('@');
		String first = (at > 1) ? address.substring(0, 1) : "";
		return first + "*".repeat(at - first.length()) + address.substring(at);
	}

	/**
	 * A star counts like what it stands for, so that what is masked stays as it is.
	 */
	private static String masked(String match) {
		int countable = (int) match.codePoints().filter(Redaction::isCounted).count();
		int hidden = (countable >= 2 * KEPT) ? countable - KEPT : countable;
		StringBuilder result = new StringBuilder(match.length());
		int seen = 0;
		for (int character : match.codePoints().toArray()) {
			boolean star = isCounted(character) && seen++ < hidden;
			result.appendCodePoint(star ? '*' : character);
		}
		return result.toString();
	}

	private static boolean isCounted(int character) {
		return Character.isLetterOrDigit(character) || character == '*';
	}

}
