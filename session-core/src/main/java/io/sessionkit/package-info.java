/**
 * The core types of SessionKit: sessions, turns, items, and the exceptions of a session
 * and its turns.
 */
@NullMarked
package io.sessionkit;

import org.jspecify.annotations.NullMarked;
