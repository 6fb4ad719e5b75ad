package io.sessionkit.store;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.sessionkit.SessionKey;
import io.sessionkit.UnreadablePayloadException;
import io.sessionkit.UnstorableMessageException;
import io.sessionkit.codec.MessageCodec;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.MessageType;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;

/**
 * Stands in for the JSON codec: text, tool calls, tool responses and serializable
 * metadata.
 */
final class SerializingCodec implements MessageCodec {

	@Override
	public String encode(SessionKey key, Message message) {
		String[][] calls = {};
		if (message instanceof AssistantMessage assistant) {
			calls = assistant.getToolCalls()
				.stream()
				.map((call) -> new String[] { call.id(), call.type(), call.name(), call.arguments() })
				.toArray(String[][]::new);
		}
		if (message instanceof ToolResponseMessage tools) {
			calls = tools.getResponses()
				.stream()
				.map((response) -> new String[] { response.id(), response.name(), response.responseData() })
				.toArray(String[][]::new);
		}
		return write(new Object[] { message.getMessageType(), message.getText(), new HashMap<>(message.getMetadata()),
				calls }, message.getClass());
	}

	@Override
	@SuppressWarnings("unchecked")
	public Message decode(SessionKey key, String payload) {
		Object[] parts = (Object[]) read(payload);
		String text = (String) parts[1];
		Map<String, Object> metadata = (Map<String, Object>) parts[2];
		List<String[]> calls = List.of((String[][]) parts[3]);
		return switch ((MessageType) parts[0]) {
			case USER -> UserMessage.builder().text(text).metadata(metadata).build();
			case SYSTEM -> SystemMessage.builder().text(text).metadata(metadata).build();
			case ASSISTANT -> AssistantMessage.builder()
				.content(text)
				.properties(metadata)
				.toolCalls(calls.stream().map((call) -> new ToolCall(call[0], call[1], call[2], call[3])).toList())
				.build();
			case TOOL -> ToolResponseMessage.builder()
				.responses(calls.stream().map((call) -> new ToolResponse(call[0], call[1], call[2])).toList())
				.metadata(metadata)
				.build();
		};
	}

	@Override
	public String encodeValues(SessionKey key, Map<String, ?> values) {
		return write(new HashMap<>(values), values.getClass());
	}

	@Override
	@SuppressWarnings("unchecked")
	public Map<String, Object> decodeValues(SessionKey key, String payload) {
		return (Map<String, Object>) read(payload);
	}

	@Override
	public Message storable(Message reply) {
		return reply;
	}

	private static String write(Object value, Class<?> type) {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
			out.writeObject(value);
		}
		catch (IOException ex) {
			throw new UnstorableMessageException("Not serializable: " + type.getName() + ".");
		}
		return Base64.getEncoder().encodeToString(bytes.toByteArray());
	}

	private static Object read(String payload) {
		try (ObjectInputStream in = new ObjectInputStream(
				new ByteArrayInputStream(Base64.getDecoder().decode(payload)))) {
			return in.readObject();
		}
		catch (IOException | ClassNotFoundException | IllegalArgumentException ex) {
			throw new UnreadablePayloadException("Not a payload of this codec.", ex);
		}
	}

}
