package io.sessionkit.internal.message;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.MessageType;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.content.Media;
import org.springframework.ai.content.MediaContent;

/**
 * The content of one of Spring AI's messages. Code that copies, changes or compares a
 * message takes it apart and puts it together here. A part that Spring AI adds to
 * messages therefore has to be added in one place only.
 *
 * @param type the type of the message, one of four
 * @param text the text; null if it has none
 * @param metadata the metadata, whose values may be null
 * @param calls the tool calls of an assistant message, else none
 * @param responses the results of a tool response message, else none
 * @param media the media of a user or an assistant message, else none
 */
public record MessageContent(MessageType type, @Nullable String text, Map<String, @Nullable Object> metadata,
		List<ToolCall> calls, List<ToolResponse> responses, List<Media> media) {

	/**
	 * Returns whether {@link #of} knows everything that a message of this class has. A
	 * subclass counts as the class that it extends.
	 * @param message a message
	 * @return false for a message that is none of Spring AI's four
	 */
	public static boolean knows(Message message) {
		return message instanceof UserMessage || message instanceof AssistantMessage || message instanceof SystemMessage
				|| message instanceof ToolResponseMessage;
	}

	/**
	 * Takes a message apart.
	 * @param message a message
	 * @return its content, in lists and a map that belong to the caller; the values are
	 * those of the message
	 */
	public static MessageContent of(Message message) {
		Collection<ToolCall> calls = (message instanceof AssistantMessage reply) ? reply.getToolCalls() : List.of();
		Collection<Media> media = (message instanceof MediaContent content) ? content.getMedia() : List.of();
		return new MessageContent(message.getMessageType(), message.getText(), new HashMap<>(message.getMetadata()),
				new ArrayList<>(calls), responses(message), new ArrayList<>(media));
	}

	private static List<ToolResponse> responses(Message message) {
		List<ToolResponse> responses = (message instanceof ToolResponseMessage tools) ? tools.getResponses() : null;
		return (responses != null) ? new ArrayList<>(responses) : List.of();
	}

	/**
	 * Copies a message. The copy has lists and a map of its own, with the same values. A
	 * message of a subclass becomes the plain message.
	 * @param message a message
	 * @return the copy
	 */
	@SuppressWarnings("NullAway") // metadata may have null values, which Spring AI does
									// not declare
	public static Message copyOf(Message message) {
		if (message instanceof UserMessage user && user.getMedia().isEmpty()) {
			return MessageParts.user(Objects.requireNonNull(user.getText()), List.of(), user.getMetadata());
		}
		if (message instanceof AssistantMessage reply && reply.getMedia().isEmpty() && !reply.hasToolCalls()) {
			return MessageParts.assistant(reply.getText(), List.of(), List.of(), reply.getMetadata());
		}
		return of(message).message();
	}

	/**
	 * Returns whether another content is the same by value. That is not equality: media
	 * and arrays are compared by what they hold.
	 * @param other the other content
	 * @return whether nothing differs
	 */
	public boolean isSameAs(MessageContent other) {
		return this.type == other.type && PlainValues.equal(this.text, other.text)
				&& PlainValues.equal(this.metadata, other.metadata) && this.calls.equals(other.calls)
				&& this.responses.equals(other.responses) && isSame(this.media, other.media);
	}

	/**
	 * Returns whether media are the same by value.
	 */
	static boolean isSame(List<Media> one, List<Media> other) {
		if (one.size() != other.size()) {
			return false;
		}
		for (int i = 0; i < one.size(); i++) {
			if (!isSame(one.get(i), other.get(i))) {
				return false;
			}
		}
		return true;
	}

	private static boolean isSame(Media one, Media other) {
		return one == other
				|| (one.getMimeType().equals(other.getMimeType()) && PlainValues.equal(one.getId(), other.getId())
						&& one.getName().equals(other.getName()) && PlainValues.equal(one.getData(), other.getData()));
	}

	/**
	 * Returns this content with another text.
	 * @param changed the text
	 * @return the content
	 */
	public MessageContent withText(@Nullable String changed) {
		return new MessageContent(this.type, changed, this.metadata, this.calls, this.responses, this.media);
	}

	/**
	 * Returns this content with other metadata.
	 * @param changed the metadata
	 * @return the content
	 */
	public MessageContent withMetadata(Map<String, ? extends @Nullable Object> changed) {
		return new MessageContent(this.type, this.text, new HashMap<>(changed), this.calls, this.responses, this.media);
	}

	/**
	 * Returns this content with other results of tools.
	 * @param changed the results
	 * @return the content
	 */
	public MessageContent withResponses(List<ToolResponse> changed) {
		return new MessageContent(this.type, this.text, this.metadata, this.calls, changed, this.media);
	}

	/**
	 * Puts the message together. A message of a subclass becomes the plain message.
	 * @return a message that keeps the lists of this content
	 */
	public Message message() {
		return switch (this.type) {
			case USER -> MessageParts.user(Objects.requireNonNull(this.text), this.media, this.metadata);
			case ASSISTANT -> MessageParts.assistant(this.text, this.calls, this.media, this.metadata);
			case SYSTEM -> MessageParts.system(Objects.requireNonNull(this.text), this.metadata);
			case TOOL -> MessageParts.tool(this.responses, this.metadata);
		};
	}

}
