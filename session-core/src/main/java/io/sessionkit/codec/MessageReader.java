package io.sessionkit.codec;

import java.util.List;
import java.util.Map;

import io.sessionkit.internal.message.MessageParts;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.content.Media;

/**
 * Reads the fields that {@link MessageWriter} wrote, in any order. One instance reads one
 * payload.
 */
final class MessageReader {

	private @Nullable String text;

	private Map<String, @Nullable Object> metadata = Map.of();

	private List<Media> media = List.of();

	private List<ToolCall> calls = List.of();

	private @Nullable List<ToolResponse> responses;

	private MessageReader() {
	}

	/**
	 * Reads the message whose fields begin at the next token.
	 */
	static Message read(JsonParser in, String kind) {
		MessageKind known = MessageKind.stored(kind);
		MessageReader reader = new MessageReader();
		for (String field = in.nextName(); field != null; field = in.nextName()) {
			reader.readField(in, field);
		}
		ValueReader.checkEnd(in, JsonToken.END_OBJECT);
		return reader.toMessage(known);
	}

	private void readField(JsonParser in, String field) {
		switch (field) {
			case "text" -> this.text = ValueReader.nextString(in);
			case "meta" -> this.metadata = ValueReader.nextMap(in);
			case "media" -> this.media = ValueReader.nextObjects(in, MediaForm::read);
			case "calls" -> this.calls = ValueReader.nextObjects(in, MessageReader::readCall);
			case "responses" -> this.responses = ValueReader.nextObjects(in, MessageReader::readResponse);
			// Reserved: a version that writes it has content that this one cannot keep.
			case "parts" -> throw new NewerPayloadException("message parts");
			default -> throw new MalformedPayloadException("a message has an unknown field");
		}
	}

	// A provider may leave a component null, whatever the record declares.
	@SuppressWarnings("NullAway")
	private static ToolCall readCall(JsonParser in) {
		String id = null;
		String type = null;
		String name = null;
		String arguments = null;
		for (String field = in.nextName(); field != null; field = in.nextName()) {
			switch (field) {
				case "id" -> id = ValueReader.nextString(in);
				case "type" -> type = ValueReader.nextString(in);
				case "name" -> name = ValueReader.nextString(in);
				case "args" -> arguments = ValueReader.nextString(in);
				default -> throw new MalformedPayloadException("a tool call has an unknown field");
			}
		}
		ValueReader.checkEnd(in, JsonToken.END_OBJECT);
		return new ToolCall(id, type, name, arguments);
	}

	@SuppressWarnings("NullAway")
	private static ToolResponse readResponse(JsonParser in) {
		String id = null;
		String name = null;
		String data = null;
		for (String field = in.nextName(); field != null; field = in.nextName()) {
			switch (field) {
				case "id" -> id = ValueReader.nextString(in);
				case "name" -> name = ValueReader.nextString(in);
				case "data" -> data = ValueReader.nextString(in);
				default -> throw new MalformedPayloadException("a tool response has an unknown field");
			}
		}
		ValueReader.checkEnd(in, JsonToken.END_OBJECT);
		return new ToolResponse(id, name, data);
	}

	private Message toMessage(MessageKind kind) {
		return switch (kind) {
			case USER -> {
				checkAbsent(this.calls.isEmpty() && this.responses == null);
				yield MessageParts.user(requiredText(), this.media, this.metadata);
			}
			case SYSTEM -> {
				checkAbsent(this.media.isEmpty() && this.calls.isEmpty() && this.responses == null);
				yield MessageParts.system(requiredText(), this.metadata);
			}
			case ASSISTANT -> {
				checkAbsent(this.responses == null);
				yield MessageParts.assistant(this.text, this.calls, this.media, this.metadata);
			}
			case TOOL -> {
				checkAbsent(this.text == null && this.media.isEmpty() && this.calls.isEmpty());
				yield MessageParts.tool(requiredResponses(), this.metadata);
			}
		};
	}

	private String requiredText() {
		if (this.text == null) {
			throw new MalformedPayloadException("its message has no text");
		}
		return this.text;
	}

	private List<ToolResponse> requiredResponses() {
		if (this.responses == null) {
			throw new MalformedPayloadException("its message has no tool responses");
		}
		return this.responses;
	}

	private static void checkAbsent(boolean absent) {
		MalformedPayloadException.unless(absent, "its message has a part that its kind does not have");
	}

}
