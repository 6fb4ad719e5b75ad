package io.sessionkit.store;

import java.util.function.ToIntFunction;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.content.MediaContent;

/**
 * A token for every four characters of text, tool arguments and tool results, a constant
 * for each medium, and four more for the message itself. A rule of thumb for English that
 * costs nothing.
 */
final class ApproximateTokens implements ToIntFunction<Message> {

	private static final int CHARACTERS_PER_TOKEN = 4;

	private static final int PER_MESSAGE = 4;

	private static final int PER_MEDIUM = 1000;

	@Override
	public int applyAsInt(Message message) {
		String text = message.getText();
		long characters = (text != null) ? text.length() : 0;
		long media = 0;
		if (message instanceof AssistantMessage assistant) {
			for (AssistantMessage.ToolCall call : assistant.getToolCalls()) {
				characters += call.name().length() + call.arguments().length();
			}
		}
		if (message instanceof ToolResponseMessage tools) {
			for (ToolResponseMessage.ToolResponse response : tools.getResponses()) {
				characters += response.name().length() + response.responseData().length();
			}
		}
		if (message instanceof MediaContent content) {
			media = content.getMedia().size();
		}
		long tokens = PER_MESSAGE + (characters + CHARACTERS_PER_TOKEN - 1) / CHARACTERS_PER_TOKEN + media * PER_MEDIUM;
		return (int) Math.min(tokens, Integer.MAX_VALUE);
	}

}
