package io.sessionkit.internal.summary;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;

import io.sessionkit.context.Summarize;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.content.MediaContent;

/**
 * The prompt for a summarizer. Messages appear in it as data: nothing in them can close
 * the tags around them, or fill in a placeholder of the template.
 */
final class SummaryPrompt {

	/** A longer text is cut in its middle. */
	static final int LONGEST_TEXT = 16_000;

	/** A text is not cut shorter than this. */
	private static final int SHORTEST_CUT = 250;

	private static final String NO_SUMMARY = "(none)";

	private final StringBuilder text = new StringBuilder();

	private final int longestText;

	private SummaryPrompt(int longestText) {
		this.longestText = longestText;
	}

	/**
	 * Fills in the template.
	 * @param before the summary so far; null for none
	 * @param longestText the length from which on a text is cut
	 */
	static String of(String template, @Nullable String before, List<Message> messages, int longestText) {
		SummaryPrompt conversation = new SummaryPrompt(longestText);
		messages.forEach(conversation::message);
		return fill(template, Map.of(Summarize.SUMMARY, (before != null) ? escaped(before) : NO_SUMMARY,
				Summarize.CONVERSATION, conversation.text.toString().stripTrailing()));
	}

	private void message(Message message) {
		if (message instanceof ToolResponseMessage results) {
			results.getResponses()
				.forEach((response) -> element("tool-result", response.id(), response.name(), response.responseData()));
			return;
		}
		textAndMedia(message);
		if (message instanceof AssistantMessage reply) {
			reply.getToolCalls().forEach((call) -> element("tool-call", call.id(), call.name(), call.arguments()));
		}
	}

	private void textAndMedia(Message message) {
		this.text.append("<message role=\"").append(message.getMessageType().getValue()).append("\">");
		this.text.append(escaped(cut(message.getText())));
		if (message instanceof MediaContent content) {
			content.getMedia()
				.forEach((medium) -> this.text.append("<medium type=\"")
					.append(escaped(medium.getMimeType().toString()))
					.append("\"/>"));
		}
		this.text.append("</message>\n");
	}

	private void element(String tag, String id, String name, String content) {
		this.text.append('<').append(tag).append(" id=\"").append(escaped(id)).append("\" name=\"");
		this.text.append(escaped(name)).append("\">").append(escaped(cut(content)));
		this.text.append("</").append(tag).append(">\n");
	}

	/**
	 * Returns how long a text may be so that all texts fit. They are counted as they are
	 * cut, since how many characters make a token depends on the alphabet.
	 * @param maxTokens the size that they may have together
	 * @param tokens estimates the size of a message
	 */
	static int longestText(List<Message> messages, long maxTokens, ToIntFunction<Message> tokens) {
		List<String> texts = messages.stream().flatMap(SummaryPrompt::texts).toList();
		int longest = LONGEST_TEXT;
		while (longest > SHORTEST_CUT && sum(texts, longest, tokens) > maxTokens) {
			longest /= 2;
		}
		return longest;
	}

	private static long sum(List<String> texts, int longest, ToIntFunction<Message> tokens) {
		SummaryPrompt cutting = new SummaryPrompt(longest);
		return texts.stream().mapToLong((text) -> tokens.applyAsInt(new AssistantMessage(cutting.cut(text)))).sum();
	}

	private static Stream<String> texts(Message message) {
		List<@Nullable String> texts = new ArrayList<>();
		texts.add(message.getText());
		if (message instanceof AssistantMessage reply) {
			reply.getToolCalls().forEach((call) -> texts.add(call.arguments()));
		}
		if (message instanceof ToolResponseMessage results) {
			results.getResponses().forEach((response) -> texts.add(response.responseData()));
		}
		return texts.stream().map((text) -> (text != null) ? text : "");
	}

	private String cut(@Nullable String text) {
		if (text == null || text.length() <= this.longestText) {
			return (text != null) ? text : "";
		}
		int begin = boundary(text, this.longestText - this.longestText / 4);
		int end = boundary(text, text.length() - this.longestText / 4);
		return text.substring(0, begin) + " [" + (end - begin) + " characters left out] " + text.substring(end);
	}

	/** Moves an index that is in the middle of a character to its end. */
	private static int boundary(String text, int index) {
		return Character.isLowSurrogate(text.charAt(index)) ? index + 1 : index;
	}

	/** Escapes a text, which is null if a provider gives no id. */
	private static String escaped(@Nullable String text) {
		return (text == null) ? "" : text.replace("&", "&amp;").replace("<", "&lt;").replace("\"", "&quot;");
	}

	/**
	 * Replaces every placeholder in a single pass. Nothing else in the template or in the
	 * values has a special meaning.
	 */
	private static String fill(String template, Map<String, String> values) {
		StringBuilder filled = new StringBuilder();
		int from = 0;
		String place = nextPlace(template, values.keySet(), from);
		while (place != null) {
			int at = template.indexOf(place, from);
			filled.append(template, from, at).append(values.get(place));
			from = at + place.length();
			place = nextPlace(template, values.keySet(), from);
		}
		return filled.append(template, from, template.length()).toString();
	}

	/** Returns the placeholder that is the next one from an index on; null for none. */
	private static @Nullable String nextPlace(String template, Set<String> names, int from) {
		String place = null;
		int next = template.length();
		for (String name : names) {
			int at = template.indexOf(name, from);
			if (at >= 0 && at < next) {
				next = at;
				place = name;
			}
		}
		return place;
	}

}
