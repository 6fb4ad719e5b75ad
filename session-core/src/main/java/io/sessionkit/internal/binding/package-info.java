/**
 * Binds the turn, and the caller for whom its code works, to a thread. Internal: for
 * SessionKit alone, and changed without notice.
 */
@NullMarked
package io.sessionkit.internal.binding;

import org.jspecify.annotations.NullMarked;
