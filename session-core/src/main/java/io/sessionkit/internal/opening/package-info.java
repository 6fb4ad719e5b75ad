/**
 * What a call asks of its turn, and the place and view from which the turn starts.
 * Internal: for SessionKit alone, and changed without notice.
 */
@NullMarked
package io.sessionkit.internal.opening;

import org.jspecify.annotations.NullMarked;
