/**
 * Runs the model calls of one turn: collects replies, runs the hooks and notifies the
 * listeners. Internal: for SessionKit alone, and changed without notice.
 */
@NullMarked
package io.sessionkit.internal.round;

import org.jspecify.annotations.NullMarked;
