package io.sessionkit.conversation;

import java.util.List;
import java.util.Map;

import io.sessionkit.hook.Summarize;
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

	private static final int END_OF_CUT_TEXT = 4_000;

	private static final String NO_SUMMARY = "(none)";

	private final StringBuilder text = new StringBuilder();

	private SummaryPrompt() {
	}

	static String of(String template, @Nullable String before, List<Message> messages) {
		SummaryPrompt conversation = new SummaryPrompt();
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

	private static String cut(@Nullable String text) {
		if (text == null || text.length() <= LONGEST_TEXT) {
			return (text != null) ? text : "";
		}
		int begin = boundary(text, LONGEST_TEXT - END_OF_CUT_TEXT);
		int end = boundary(text, text.length() - END_OF_CUT_TEXT);
		return text.substring(0, begin) + " [" + (end - begin) + " characters left out] " + text.substring(end);
	}

	/** Not in the middle of a character. */
	private static int boundary(String text, int index) {
		return Character.isLowSurrogate(text.charAt(index)) ? index + 1 : index;
	}

	private static String escaped(String text) {
		return text.replace("&", "&amp;").replace("<", "&lt;").replace("\"", "&quot;");
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
