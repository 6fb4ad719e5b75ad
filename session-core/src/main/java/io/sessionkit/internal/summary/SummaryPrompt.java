package io.sessionkit.internal.summary;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.sessionkit.context.Summarize;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.content.MediaContent;

/**
 * What a summarizer is asked. Messages stand in it as data: nothing in them can close the
 * tags around them, or fill in a place of the template.
 */
final class SummaryPrompt {

	/** A text that is longer is cut in its middle. */
	private static final int LONGEST_TEXT = 16_000;

	/** And is not cut shorter than this. */
	private static final int SHORTEST_CUT = 250;

	private static final String NO_SUMMARY = "(none)";

	private static final int CHARACTERS_PER_TOKEN = 4;

	private final StringBuilder text = new StringBuilder();

	private final int longestText;

	private SummaryPrompt(int longestText) {
		this.longestText = longestText;
	}

	/**
	 * @param tokens how large the messages are, by estimate
	 * @param maxTokens how large they may be; above that long texts are cut shorter
	 */
	static String of(String template, @Nullable String before, List<Message> messages, long tokens, long maxTokens) {
		SummaryPrompt conversation = new SummaryPrompt(
				(tokens > maxTokens) ? longestText(messages, maxTokens * CHARACTERS_PER_TOKEN) : LONGEST_TEXT);
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
		this.text.append("<message role=\"").append(message.getMessageType().getValue()).append("\">");
		this.text.append(escaped(cut(message.getText())));
		if (message instanceof MediaContent content) {
			content.getMedia()
				.forEach((medium) -> this.text.append("<medium type=\"")
					.append(escaped(medium.getMimeType().toString()))
					.append("\"/>"));
		}
		this.text.append("</message>\n");
		if (message instanceof AssistantMessage reply) {
			reply.getToolCalls().forEach((call) -> element("tool-call", call.id(), call.name(), call.arguments()));
		}
	}

	private void element(String tag, String id, String name, String content) {
		this.text.append('<').append(tag).append(" id=\"").append(escaped(id)).append("\" name=\"");
		this.text.append(escaped(name)).append("\">").append(escaped(cut(content)));
		this.text.append("</").append(tag).append(">\n");
	}

	/**
	 * How long a text may be so that all fit.
	 */
	private static int longestText(List<Message> messages, long characters) {
		List<Integer> lengths = messages.stream().flatMap(SummaryPrompt::texts).map(String::length).toList();
		int longest = LONGEST_TEXT;
		while (longest > SHORTEST_CUT && sum(lengths, longest) > characters) {
			longest /= 2;
		}
		return longest;
	}

	private static long sum(List<Integer> lengths, int longest) {
		return lengths.stream().mapToLong((length) -> Math.min(length, longest)).sum();
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

	/** Not in the middle of a character. */
	private static int boundary(String text, int index) {
		return Character.isLowSurrogate(text.charAt(index)) ? index + 1 : index;
	}

	/** A provider may give no id. */
	private static String escaped(@Nullable String text) {
		return (text == null) ? "" : text.replace("&", "&amp;").replace("<", "&lt;").replace("\"", "&quot;");
	}

	/**
	 * Replaces each place once, as it is written: neither the template nor the values
	 * have other meanings.
	 */
	private static String fill(String template, Map<String, String> values) {
		StringBuilder filled = new StringBuilder();
		int from = 0;
		while (true) {
			int next = -1;
			String place = "";
			for (String name : values.keySet()) {
				int at = template.indexOf(name, from);
				if (at >= 0 && (next < 0 || at < next)) {
					next = at;
					place = name;
				}
			}
			if (next < 0) {
				return filled.append(template, from, template.length()).toString();
			}
			filled.append(template, from, next).append(values.get(place));
			from = next + place.length();
		}
	}

}
