/**
 * Begins, runs and continues turns. Internal: for SessionKit alone, and changed without
 * notice.
 */
@NullMarked
package io.sessionkit.internal.turn;

import org.jspecify.annotations.NullMarked;
