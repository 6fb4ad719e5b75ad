package io.sessionkit.samples.chat;

import org.jspecify.annotations.Nullable;

/**
 * The thread that a thread was forked from.
 *
 * @param title its title; null if it is gone
 */
record ForkView(String id, @Nullable String title) {
}
