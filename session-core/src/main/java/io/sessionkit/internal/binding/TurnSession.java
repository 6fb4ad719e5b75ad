package io.sessionkit.internal.binding;

import io.sessionkit.SessionKey;

/**
 * Names the session of a turn. An application may have several stores, which have
 * sessions of the same key.
 *
 * @param store the store that holds the session
 * @param key the key of the session
 */
public record TurnSession(Object store, SessionKey key) {
}
