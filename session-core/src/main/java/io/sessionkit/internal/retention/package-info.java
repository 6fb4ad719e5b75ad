/**
 * The limits on stored turns, and the turns to delete. Internal: for SessionKit alone,
 * and changed without notice.
 */
@NullMarked
package io.sessionkit.internal.retention;

import org.jspecify.annotations.NullMarked;
