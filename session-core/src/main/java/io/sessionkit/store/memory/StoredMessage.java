package io.sessionkit.store.memory;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * An encoded message. The decoded message never leaves the store; copies of it do.
 *
 * @param payload the message as the codec encoded it
 * @param message the payload, decoded; null if it must be decoded for each reader,
 * because {@link MessageCopier} cannot copy it or it has not been decoded yet
 */
record StoredMessage(String payload, @Nullable Message message) {
}
