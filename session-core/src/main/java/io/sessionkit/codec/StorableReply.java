package io.sessionkit.codec;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;

import io.sessionkit.internal.LoneSurrogates;
import io.sessionkit.internal.message.MessageContent;
import io.sessionkit.internal.message.MessageParts;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

import org.springframework.ai.chat.messages.AbstractMessage;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.content.Media;

/**
 * Reduces a reply to what can be stored. A part without a stored form is dropped as a
 * whole: a metadata entry, a medium, the state of a subclass. Texts are never dropped: a
 * lone surrogate in a text becomes U+FFFD. Enum constants in the metadata become their
 * names.
 */
final class StorableReply {

	private final LeftOut leftOut;

	StorableReply(LeftOut leftOut) {
		this.leftOut = leftOut;
	}

	/**
	 * Returns a copy that can be stored.
	 * @throws NotStorableException if the message is none of Spring AI's, or if the
	 * message, a tool call or a response in it has content of an unknown kind
	 */
	Message reduce(Message reply) {
		UnknownContent.refuse(reply, "the message");
		Message reduced = reduced(reply);
		if (MessageKind.of(reply) == null) {
			this.leftOut.dropped("what a subclass adds", "is not known of " + reply.getClass().getName(),
					reply.getClass().getName());
		}
		return reduced;
	}

	/**
	 * Returns a copy whose metadata has names instead of enum constants.
	 * @return a plain message of Spring AI; the given one if something of it would be
	 * lost
	 */
	static Message named(Message reply) {
		if (MessageKind.of(reply) == null || !UnknownContent.knows(reply) || !hasItsType(reply)) {
			return reply;
		}
		Map<String, @Nullable Object> metadata = new LinkedHashMap<>();
		reply.getMetadata().forEach((key, value) -> metadata.put(key, named(key, value)));
		return MessageContent.of(reply).withMetadata(metadata).message();
	}

	/** A message that is built has its own type there, whatever the other one had. */
	private static boolean hasItsType(Message reply) {
		return reply.getMetadata().get(AbstractMessage.MESSAGE_TYPE) == reply.getMessageType();
	}

	private static @Nullable Object named(@Nullable String key, @Nullable Object value) {
		return AbstractMessage.MESSAGE_TYPE.equals(key) ? value : ConstantNames.in(value);
	}

	private Message reduced(Message reply) {
		if (reply instanceof AssistantMessage assistant) {
			return MessageParts.assistant(text(assistant.getText()), calls(assistant.getToolCalls()),
					media(assistant.getMedia()), metadata(assistant));
		}
		if (reply instanceof ToolResponseMessage tool) {
			return MessageParts.tool(responses(tool.getResponses()), metadata(tool));
		}
		if (reply instanceof UserMessage user) {
			return MessageParts.user(requiredText(user), media(user.getMedia()), metadata(user));
		}
		if (reply instanceof SystemMessage system) {
			return MessageParts.system(requiredText(system), metadata(system));
		}
		throw NotStorableException.unknownClass("message", reply.getClass());
	}

	private Map<String, @Nullable Object> metadata(Message reply) {
		Map<String, @Nullable Object> kept = new LinkedHashMap<>();
		Map<String, ? extends @Nullable Object> metadata = reply.getMetadata();
		metadata.forEach((key, value) -> {
			boolean own = AbstractMessage.MESSAGE_TYPE.equals(key) && value == reply.getMessageType();
			Object named = named(key, value);
			if (!own && isStorable(PartName.metadata(key), (out) -> writeEntry(out, key, named))) {
				kept.put(key, named);
			}
		});
		return kept;
	}

	private static void writeEntry(JsonGenerator out, @Nullable String key, @Nullable Object value) {
		out.writeName(ValueWriter.checkedKey(key));
		if (AbstractMessage.MESSAGE_TYPE.equals(key)) {
			throw new NotStorableException(AbstractMessage.MESSAGE_TYPE, "is not the type of the message",
					(value != null) ? value.getClass() : null);
		}
		new ValueWriter(out).write(value);
	}

	private List<Media> media(List<Media> media) {
		return kept(media, "medium", (medium) -> medium, (out, medium) -> {
			out.writeName("medium");
			MediaForm.write(out, medium, "medium");
		});
	}

	private List<ToolCall> calls(List<ToolCall> calls) {
		return kept(calls, "tool call", this::call, (out, call) -> {
		});
	}

	private List<ToolResponse> responses(@Nullable List<ToolResponse> responses) {
		return kept((responses != null) ? responses : List.of(), "tool response", this::response, (out, response) -> {
		});
	}

	private <T> List<T> kept(List<T> elements, String part, Function<T, T> repair, Writing<T> writing) {
		List<T> kept = new ArrayList<>(elements.size());
		for (T element : elements) {
			if (element == null) {
				this.leftOut.dropped(part, "is null", "null");
			}
			else if (isStorable(part, (out) -> writing.write(out, element))) {
				kept.add(repair.apply(element));
			}
		}
		return kept;
	}

	@SuppressWarnings("NullAway") // a provider may leave a component null
	private ToolCall call(ToolCall call) {
		UnknownContent.refuse(call, "a tool call");
		return new ToolCall(repaired(call.id(), "tool call: id"), repaired(call.type(), "tool call: type"),
				repaired(call.name(), "tool call: name"), repaired(call.arguments(), "tool call: args"));
	}

	@SuppressWarnings("NullAway") // a provider may leave a component null
	private ToolResponse response(ToolResponse response) {
		UnknownContent.refuse(response, "a tool response");
		return new ToolResponse(repaired(response.id(), "tool response: id"),
				repaired(response.name(), "tool response: name"),
				repaired(response.responseData(), "tool response: data"));
	}

	private String requiredText(Message message) {
		String text = text(message.getText());
		return (text != null) ? text : "";
	}

	private @Nullable String text(@Nullable String text) {
		return repaired(text, "text");
	}

	private @Nullable String repaired(@Nullable String text, String part) {
		if (text == null || !LoneSurrogates.in(text)) {
			return text;
		}
		this.leftOut.changed(part, "given U+FFFD in place of lone surrogates", String.class.getName());
		return LoneSurrogates.replaced(text);
	}

	private boolean isStorable(String part, Consumer<JsonGenerator> writing) {
		try {
			Envelope.tryOut(writing);
			return true;
		}
		catch (NotStorableException ex) {
			this.leftOut.dropped(part, ex.reason(), ex.className());
			return false;
		}
	}

	/**
	 * Writes an element as it would be stored.
	 */
	@FunctionalInterface
	private interface Writing<T> {

		void write(JsonGenerator out, T element);

	}

}
