package io.sessionkit.store;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.content.Media;

/**
 * Copies messages without the codec. The messages' own {@code copy()} cannot be used: it
 * fails on metadata whose value is null.
 */
final class MessageCopier {

	private MessageCopier() {
	}

	/**
	 * Whether {@link #copy} shares nothing that could be changed: neither a metadata
	 * value nor the bytes of a medium.
	 */
	static boolean canCopy(Message message) {
		return PlainValues.arePlain(message.getMetadata())
				&& media(message).stream().noneMatch(MessageCopier::hasBytes);
	}

	/**
	 * A message with lists and metadata of its own; the values in them are the same.
	 */
	static Message copy(Message message) {
		if (message instanceof UserMessage user) {
			UserMessage.Builder copy = UserMessage.builder().media(user.getMedia()).metadata(user.getMetadata());
			return copy.text(Objects.requireNonNull(user.getText())).build();
		}
		if (message instanceof AssistantMessage assistant) {
			return AssistantMessage.builder()
				.content(assistant.getText())
				.properties(assistant.getMetadata())
				.toolCalls(new ArrayList<>(assistant.getToolCalls()))
				.media(new ArrayList<>(assistant.getMedia()))
				.build();
		}
		if (message instanceof ToolResponseMessage tools) {
			return ToolResponseMessage.builder()
				.responses(new ArrayList<>(tools.getResponses()))
				.metadata(tools.getMetadata())
				.build();
		}
		return SystemMessage.builder()
			.text(Objects.requireNonNull(message.getText()))
			.metadata(message.getMetadata())
			.build();
	}

	static List<Media> media(Message message) {
		if (message instanceof UserMessage user) {
			return user.getMedia();
		}
		return (message instanceof AssistantMessage assistant) ? assistant.getMedia() : List.of();
	}

	private static boolean hasBytes(Media medium) {
		return medium.getData() instanceof byte[];
	}

}
