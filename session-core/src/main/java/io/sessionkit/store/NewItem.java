package io.sessionkit.store;

import java.time.Instant;

import org.springframework.ai.chat.messages.Message;

/**
 * A message to store.
 *
 * @param message the message
 * @param at when it was recorded
 * @param tokens its estimated size in tokens
 */
public record NewItem(Message message, Instant at, int tokens) {
}
