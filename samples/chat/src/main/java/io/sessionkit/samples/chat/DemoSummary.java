package io.sessionkit.samples.chat;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.prompt.Prompt;

/**
 * The summary that the {@link DemoChatModel} writes: what was said, one line each, with
 * what the tools returned. It is made only of what it is given, and {@link DemoReply} can
 * read it when a later prompt begins with it.
 *
 * @param before a summary by another model that this one continues; empty if there is
 * none
 * @param leftOut the number of older lines that were left out
 * @param lines what was said, oldest first
 */
record DemoSummary(String before, int leftOut, List<Line> lines) {

	static final DemoSummary NONE = new DemoSummary("", 0, List.of());

	private static final int MOST_LINES = 12;

	private static final int LONGEST_BEFORE = 600;

	private static final int LONGEST_QUESTION = 90;

	private static final int LONGEST_RESULT = 60;

	private static final String HEADING = "Said so far, oldest first:";

	private static final Pattern LIST = Pattern.compile("^" + HEADING + "$", Pattern.MULTILINE);

	private static final Pattern LEFT_OUT = Pattern.compile("^- (\\d{1,6}) older, left out$", Pattern.MULTILINE);

	private static final Pattern LINE = Pattern.compile("^- “(.*)”((?: · [^:·\\n]+: [^·\\n]*)*)$", Pattern.MULTILINE);

	private static final Pattern RESULT = Pattern.compile("· ([^:·]+): ([^·]*)");

	private static final Pattern SO_FAR = element("summary-so-far");

	private static final Pattern CONVERSATION = element("conversation");

	/** Nothing between the tags has a "<" of its own: SessionKit escapes it. */
	private static final Pattern SAID = Pattern.compile(
			"<message role=\"user\">([^<]*)" + "|<tool-result id=\"[^\"]*\" name=\"([^\"]*)\">([^<]*)</tool-result>");

	/**
	 * A question with its results.
	 *
	 * @param question the words of the user, on one line
	 * @param results what the tools returned
	 */
	record Line(String question, List<Result> results) {

		private Line with(Result result) {
			return new Line(this.question, Stream.concat(this.results.stream(), Stream.of(result)).toList());
		}

		private String text() {
			StringBuilder text = new StringBuilder("- “").append(this.question).append('”');
			this.results
				.forEach((result) -> text.append(" · ").append(result.tool()).append(": ").append(result.data()));
			return text.toString();
		}

	}

	record Result(String tool, String data) {
	}

	/**
	 * Returns the summary that a prompt asks for with a single message that has a
	 * conversation between tags.
	 * @return the summary; empty if the prompt asks for something else
	 */
	static Optional<DemoSummary> askedFor(Prompt prompt) {
		List<Message> messages = prompt.getInstructions();
		if (messages.size() != 1 || !(messages.get(0) instanceof UserMessage question)) {
			return Optional.empty();
		}
		String text = Objects.requireNonNullElse(question.getText(), "");
		DemoSummary soFar = content(SO_FAR, text).map(DemoSummary::soFar).orElse(NONE);
		return content(CONVERSATION, text).map((conversation) -> soFar.with(said(conversation)).shortened());
	}

	/**
	 * Returns the summary that a prompt begins with.
	 * @return the summary; an empty one if the prompt begins with something else or
	 * another model wrote it
	 */
	static DemoSummary in(List<Message> messages) {
		List<Message> first = messages.stream()
			.filter((message) -> !(message instanceof SystemMessage))
			.limit(2)
			.toList();
		boolean pair = first.size() == 2 && first.get(0) instanceof UserMessage
				&& first.get(1) instanceof AssistantMessage;
		String text = pair ? first.get(1).getText() : null;
		return (text != null && LIST.matcher(text).find()) ? parse(text) : NONE;
	}

	boolean isEmpty() {
		return this.lines.isEmpty();
	}

	String text() {
		List<String> text = new ArrayList<>();
		if (!this.before.isEmpty()) {
			text.add(this.before + "\n");
		}
		text.add(HEADING);
		if (this.leftOut > 0) {
			text.add("- " + this.leftOut + " older, left out");
		}
		this.lines.stream().map(Line::text).forEach(text::add);
		return String.join("\n", text);
	}

	private static DemoSummary parse(String text) {
		Matcher list = LIST.matcher(text);
		if (!list.find()) {
			return new DemoSummary(oneLine(text, LONGEST_BEFORE), 0, List.of());
		}
		String rest = text.substring(list.end());
		Matcher older = LEFT_OUT.matcher(rest);
		return new DemoSummary(text.substring(0, list.start()).strip(),
				older.find() ? Integer.parseInt(older.group(1)) : 0,
				LINE.matcher(rest).results().map((line) -> new Line(line.group(1), results(line.group(2)))).toList());
	}

	private static List<Result> results(String text) {
		return RESULT.matcher(text)
			.results()
			.map((result) -> new Result(result.group(1), result.group(2).strip()))
			.toList();
	}

	private static DemoSummary soFar(String text) {
		return text.equals("(none)") ? NONE : parse(unescaped(text));
	}

	private static List<Line> said(String conversation) {
		List<Line> lines = new ArrayList<>();
		Matcher said = SAID.matcher(conversation);
		while (said.find()) {
			if (said.group(1) != null) {
				lines.add(new Line(oneLine(unescaped(said.group(1)), LONGEST_QUESTION), List.of()));
			}
			else if (!lines.isEmpty()) {
				Result result = new Result(unescaped(said.group(2)),
						oneLine(DemoReply.plain(unescaped(said.group(3))), LONGEST_RESULT));
				lines.add(lines.remove(lines.size() - 1).with(result));
			}
		}
		return lines;
	}

	private DemoSummary with(List<Line> more) {
		return new DemoSummary(this.before, this.leftOut, Stream.concat(this.lines.stream(), more.stream()).toList());
	}

	/**
	 * Leaves the oldest lines out, but never one that may be asked for later: the one
	 * that has the user's name, and those with results of tools.
	 */
	private DemoSummary shortened() {
		Line named = this.lines.stream()
			.filter((line) -> DemoReply.nameIn(line.question()).isPresent())
			.reduce((first, last) -> last)
			.orElse(null);
		int removed = 0;
		List<Line> kept = new ArrayList<>();
		for (Line line : this.lines) {
			boolean tooMany = this.lines.size() - removed > MOST_LINES;
			if (tooMany && line != named && line.results().isEmpty()) {
				removed++;
			}
			else {
				kept.add(line);
			}
		}
		return new DemoSummary(this.before, this.leftOut + removed, List.copyOf(kept));
	}

	private static String oneLine(String text, int longest) {
		String line = text.strip().replaceAll("\\s+", " ").replace('·', '-');
		int end = line.offsetByCodePoints(0, Math.min(longest, line.codePointCount(0, line.length())));
		return (end < line.length()) ? line.substring(0, end).strip() + "…" : line;
	}

	private static String unescaped(String text) {
		return text.replace("&quot;", "\"").replace("&lt;", "<").replace("&amp;", "&");
	}

	private static Optional<String> content(Pattern element, String text) {
		Matcher found = element.matcher(text);
		return found.find() ? Optional.of(found.group(1)) : Optional.empty();
	}

	private static Pattern element(String name) {
		return Pattern.compile("<" + name + ">\\n(.*)\\n</" + name + ">", Pattern.DOTALL);
	}

}
