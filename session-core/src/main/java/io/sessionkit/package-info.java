/**
 * The core types of SessionKit: sessions, turns, items, and the exceptions.
 */
@NullMarked
package io.sessionkit;

import org.jspecify.annotations.NullMarked;
