package io.sessionkit.store.memory;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * A message at rest. What is decoded never leaves the store; copies of it do.
 *
 * @param payload what the codec made of it
 * @param message the payload, decoded; null if it must be decoded for each reader, since
 * {@link MessageCopier} cannot copy it or nobody has decoded it yet
 */
record StoredMessage(String payload, @Nullable Message message) {
}
