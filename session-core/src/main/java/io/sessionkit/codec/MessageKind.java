package io.sessionkit.codec;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.UserMessage;

/**
 * The kind of message in an envelope: one of Spring AI's four messages. The name is part
 * of the stored format.
 */
enum MessageKind {

	USER("user", UserMessage.class),

	ASSISTANT("assistant", AssistantMessage.class),

	SYSTEM("system", SystemMessage.class),

	TOOL("tool", ToolResponseMessage.class);

	private final String stored;

	private final Class<? extends Message> type;

	MessageKind(String stored, Class<? extends Message> type) {
		this.stored = stored;
		this.type = type;
	}

	/**
	 * Returns the kind that stores all of the message. The result is null for a subclass,
	 * which may have state that is not known here, unless all of its state is known to be
	 * in the metadata too.
	 */
	static @Nullable MessageKind of(Message message) {
		for (MessageKind kind : values()) {
			if (message.getClass() == kind.type) {
				return kind;
			}
		}
		boolean known = message instanceof AssistantMessage assistant && ProviderState.isAllInMetadata(assistant);
		return known ? ASSISTANT : null;
	}

	/**
	 * Returns whether the class of a message is one of Spring AI's four.
	 */
	static boolean isOwn(Message message) {
		Class<?> type = message.getClass();
		return type == USER.type || type == ASSISTANT.type || type == SYSTEM.type || type == TOOL.type;
	}

	static MessageKind stored(String name) {
		return switch (name) {
			case "user" -> USER;
			case "assistant" -> ASSISTANT;
			case "system" -> SYSTEM;
			case "tool" -> TOOL;
			default -> throw new MalformedPayloadException("it holds no message");
		};
	}

	String stored() {
		return this.stored;
	}

}
