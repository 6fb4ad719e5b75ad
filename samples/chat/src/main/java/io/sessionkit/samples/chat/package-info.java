/**
 * A chat with threads that survive a restart: one page, one REST API, and nothing that
 * keeps history by hand.
 */
@NullMarked
package io.sessionkit.samples.chat;

import org.jspecify.annotations.NullMarked;
