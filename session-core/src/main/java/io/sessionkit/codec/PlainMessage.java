package io.sessionkit.codec;

import java.util.List;
import java.util.Map;

import io.sessionkit.internal.LoneSurrogates;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AbstractMessage;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.content.MediaContent;

/**
 * Recognizes the messages that surely come back equal, so that nobody has to encode them
 * to find out: those of Spring AI's own classes with sound texts, no media, and metadata
 * of strings, booleans and the common numbers. Nearly every message is like this.
 */
final class PlainMessage {

	private PlainMessage() {
	}

	/**
	 * Returns whether a message is plain. One that is not may be storable too.
	 */
	static boolean is(Message message) {
		return MessageKind.isOwn(message) && UnknownContent.knows(message) && isPlain(message.getMetadata(), message)
				&& hasPlainContent(message);
	}

	private static boolean hasPlainContent(Message message) {
		if (message instanceof ToolResponseMessage tools) {
			return areResponses(tools.getResponses());
		}
		boolean text = (message instanceof AssistantMessage reply)
				? isSound(message.getText()) && areCalls(reply.getToolCalls())
				: message.getText() != null && isSound(message.getText());
		return text && (!(message instanceof MediaContent content) || content.getMedia().isEmpty());
	}

	private static boolean isPlain(Map<String, ? extends @Nullable Object> metadata, Message message) {
		for (Map.Entry<String, ? extends @Nullable Object> entry : metadata.entrySet()) {
			boolean plain = AbstractMessage.MESSAGE_TYPE.equals(entry.getKey())
					? entry.getValue() == message.getMessageType()
					: entry.getKey() != null && isSound(entry.getKey()) && isPlainValue(entry.getValue());
			if (!plain) {
				return false;
			}
		}
		return true;
	}

	private static boolean isPlainValue(@Nullable Object value) {
		if (value instanceof String text) {
			return isSound(text);
		}
		return value == null || value instanceof Integer || value instanceof Boolean || value instanceof Long
				|| value instanceof Double;
	}

	private static boolean areCalls(List<ToolCall> calls) {
		for (ToolCall call : calls) {
			if (call == null || !UnknownContent.knows(call) || !isSound(call.id()) || !isSound(call.type())
					|| !isSound(call.name()) || !isSound(call.arguments())) {
				return false;
			}
		}
		return true;
	}

	private static boolean areResponses(@Nullable List<ToolResponse> responses) {
		if (responses == null) {
			return false;
		}
		for (ToolResponse response : responses) {
			if (response == null || !UnknownContent.knows(response) || !isSound(response.id())
					|| !isSound(response.name()) || !isSound(response.responseData())) {
				return false;
			}
		}
		return true;
	}

	private static boolean isSound(@Nullable String text) {
		return text == null || !LoneSurrogates.in(text);
	}

}
