package io.sessionkit.store.memory;

import java.time.Instant;

/**
 * An item with its message.
 *
 * @param sequence its place in the session
 * @param turn the number of its turn
 * @param at when it was recorded
 * @param tokens its estimated size in tokens
 * @param message its message
 */
record StoredItem(long sequence, long turn, Instant at, int tokens, StoredMessage message) {
}
