package io.sessionkit.store.memory;

import io.sessionkit.internal.message.Copies;
import io.sessionkit.internal.message.MessageContent;
import io.sessionkit.internal.message.PlainValues;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.content.Media;

/**
 * Copies messages without the codec. The messages' own {@code copy()} cannot be used: it
 * fails on metadata whose value is null.
 */
final class MessageCopier {

	private MessageCopier() {
	}

	/**
	 * Returns whether {@link #copy} leaves nothing out and shares nothing mutable:
	 * neither a metadata value nor the bytes of a medium.
	 */
	static boolean canCopy(Message message) {
		return Copies.isWhole(message) && PlainValues.arePlain(message.getMetadata())
				&& MessageContent.of(message).media().stream().noneMatch(MessageCopier::hasBytes);
	}

	/**
	 * Returns a message with its own lists and metadata; the values in them are shared.
	 */
	static Message copy(Message message) {
		return MessageContent.copyOf(message);
	}

	private static boolean hasBytes(Media medium) {
		return medium.getData() instanceof byte[];
	}

}
