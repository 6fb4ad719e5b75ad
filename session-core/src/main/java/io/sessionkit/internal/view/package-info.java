/**
 * Decides which part of a session the model sees: reads the view, applies limits and
 * pins, prunes old tool results, and applies a merge. Internal: for SessionKit alone, and
 * changed without notice.
 */
@NullMarked
package io.sessionkit.internal.view;

import org.jspecify.annotations.NullMarked;
