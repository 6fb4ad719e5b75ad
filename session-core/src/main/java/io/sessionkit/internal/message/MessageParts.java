package io.sessionkit.internal.message;

import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.content.Media;

/**
 * Builds Spring AI's messages from their parts. The builders of these messages declare
 * metadata without null values, but accept and keep them.
 */
@SuppressWarnings("NullAway")
public final class MessageParts {

	private MessageParts() {
	}

	public static UserMessage user(String text, List<Media> media, Map<String, @Nullable Object> metadata) {
		return UserMessage.builder().text(text).media(media).metadata(metadata).build();
	}

	public static SystemMessage system(String text, Map<String, @Nullable Object> metadata) {
		return SystemMessage.builder().text(text).metadata(metadata).build();
	}

	public static AssistantMessage assistant(@Nullable String text, List<ToolCall> calls, List<Media> media,
			Map<String, @Nullable Object> metadata) {
		return AssistantMessage.builder().content(text).toolCalls(calls).media(media).properties(metadata).build();
	}

	public static ToolResponseMessage tool(List<ToolResponse> responses, Map<String, @Nullable Object> metadata) {
		return ToolResponseMessage.builder().responses(responses).metadata(metadata).build();
	}

}
