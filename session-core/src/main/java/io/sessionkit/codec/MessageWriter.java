package io.sessionkit.codec;

import java.util.List;
import java.util.Map;

import io.sessionkit.internal.LoneSurrogates;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

import org.springframework.ai.chat.messages.AbstractMessage;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.content.Media;
import org.springframework.ai.content.MediaContent;

/**
 * Writes the fields of a message. A field that is null or empty is left out. An empty
 * text is written, however, because it differs from null. One instance writes one
 * payload.
 */
final class MessageWriter {

	private final JsonGenerator out;

	private final ValueWriter values;

	MessageWriter(JsonGenerator out) {
		this.out = out;
		this.values = new ValueWriter(out);
	}

	/**
	 * Returns the kind to write the message as.
	 * @throws NotStorableException if the class of the message is not known
	 */
	static MessageKind kindOf(Message message) {
		MessageKind kind = MessageKind.of(message);
		if (kind == null) {
			throw NotStorableException.unknownClass("message", message.getClass());
		}
		return kind;
	}

	/**
	 * Writes the fields.
	 * @throws NotStorableException if the message would not come back equal
	 */
	void write(Message message) {
		UnknownContent.refuse(message, "the message");
		writeTextOrResponses(message);
		writeMetadata(message);
		if (message instanceof AssistantMessage assistant) {
			writeCalls(assistant.getToolCalls());
		}
		if (message instanceof MediaContent content) {
			writeMedia(content.getMedia());
		}
	}

	/**
	 * Writes the entries as the object of this field.
	 * @throws NotStorableException if a value would not come back equal
	 */
	void writeValues(String field, Map<String, ? extends @Nullable Object> entries) {
		this.out.writeName(field);
		this.out.writeStartObject();
		entries.forEach((key, value) -> writeEntry(key, value, PartName.value(key)));
		this.out.writeEndObject();
	}

	private void writeTextOrResponses(Message message) {
		if (message instanceof ToolResponseMessage tool) {
			writeResponses(tool.getResponses());
		}
		else {
			writeText("text", message.getText(), "text");
		}
	}

	private void writeMetadata(Message message) {
		Map<String, ? extends @Nullable Object> metadata = message.getMetadata();
		checkType(metadata, message);
		if (metadata.size() <= (metadata.containsKey(AbstractMessage.MESSAGE_TYPE) ? 1 : 0)) {
			return;
		}
		this.out.writeName("meta");
		this.out.writeStartObject();
		metadata.forEach(this::writeMetadataEntry);
		this.out.writeEndObject();
	}

	// On reading, the constructor puts the type into the metadata again.
	private static void checkType(Map<String, ? extends @Nullable Object> metadata, Message message) {
		Object type = metadata.get(AbstractMessage.MESSAGE_TYPE);
		if (type != null && type != message.getMessageType()) {
			throw new NotStorableException(PartName.metadata(AbstractMessage.MESSAGE_TYPE),
					"is not the type of the message", type.getClass());
		}
	}

	private void writeMetadataEntry(@Nullable String key, @Nullable Object value) {
		if (!AbstractMessage.MESSAGE_TYPE.equals(key)) {
			writeEntry(key, value, PartName.metadata(key));
		}
	}

	private void writeEntry(@Nullable String key, @Nullable Object value, String part) {
		try {
			this.out.writeName(ValueWriter.checkedKey(key));
			this.values.write(value);
		}
		catch (NotStorableException ex) {
			throw ex.in(part);
		}
	}

	private void writeCalls(List<ToolCall> calls) {
		if (calls.isEmpty()) {
			return;
		}
		this.out.writeName("calls");
		this.out.writeStartArray();
		for (int i = 0; i < calls.size(); i++) {
			writeCall(present(calls.get(i), "tool call", i), i);
		}
		this.out.writeEndArray();
	}

	private void writeCall(ToolCall call, int index) {
		UnknownContent.refuse(call, PartName.element("tool call", index));
		this.out.writeStartObject();
		writeText("id", call.id(), "tool call", index);
		writeText("type", call.type(), "tool call", index);
		writeText("name", call.name(), "tool call", index);
		writeText("args", call.arguments(), "tool call", index);
		this.out.writeEndObject();
	}

	private void writeResponses(@Nullable List<ToolResponse> responses) {
		if (responses == null) {
			throw new NotStorableException("tool responses", "are null", null);
		}
		this.out.writeName("responses");
		this.out.writeStartArray();
		for (int i = 0; i < responses.size(); i++) {
			writeResponse(present(responses.get(i), "tool response", i), i);
		}
		this.out.writeEndArray();
	}

	private void writeResponse(ToolResponse response, int index) {
		UnknownContent.refuse(response, PartName.element("tool response", index));
		this.out.writeStartObject();
		writeText("id", response.id(), "tool response", index);
		writeText("name", response.name(), "tool response", index);
		writeText("data", response.responseData(), "tool response", index);
		this.out.writeEndObject();
	}

	private void writeMedia(List<Media> media) {
		if (media.isEmpty()) {
			return;
		}
		this.out.writeName("media");
		this.out.writeStartArray();
		for (int i = 0; i < media.size(); i++) {
			MediaForm.write(this.out, media.get(i), PartName.element("medium", i));
		}
		this.out.writeEndArray();
	}

	private void writeText(String field, @Nullable String text, String list, int index) {
		if (text != null && LoneSurrogates.in(text)) {
			throw NotStorableException.loneSurrogate(PartName.element(list, index) + ": " + field);
		}
		writeUnchecked(field, text);
	}

	private void writeText(String field, @Nullable String text, String part) {
		if (text != null && LoneSurrogates.in(text)) {
			throw NotStorableException.loneSurrogate(part);
		}
		writeUnchecked(field, text);
	}

	private void writeUnchecked(String field, @Nullable String text) {
		if (text != null) {
			this.out.writeStringProperty(field, text);
		}
	}

	private static <T> T present(@Nullable T element, String list, int index) {
		if (element == null) {
			throw new NotStorableException(PartName.element(list, index), "is null", null);
		}
		return element;
	}

}
