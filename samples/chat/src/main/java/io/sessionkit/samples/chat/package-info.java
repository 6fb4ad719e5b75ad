/**
 * A chat whose sessions survive a restart: one page, one REST API, and no code of its own
 * that keeps history. The page and the API call a session a thread.
 */
@NullMarked
package io.sessionkit.samples.chat;

import org.jspecify.annotations.NullMarked;
