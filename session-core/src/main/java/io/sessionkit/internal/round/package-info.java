/**
 * Runs the model calls of one turn: gathers replies, asks the hooks, tells the listeners.
 * Internal: for SessionKit alone, and changed without notice.
 */
@NullMarked
package io.sessionkit.internal.round;

import org.jspecify.annotations.NullMarked;
