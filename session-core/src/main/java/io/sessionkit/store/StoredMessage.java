package io.sessionkit.store;

import org.springframework.ai.chat.messages.Message;

/**
 * A message at rest and what it decodes to. The message never leaves the store; copies of
 * it do.
 *
 * @param payload what the codec made of it
 * @param message the payload, decoded
 * @param copyable whether {@link MessageCopier} can copy it
 */
record StoredMessage(String payload, Message message, boolean copyable) {
}
