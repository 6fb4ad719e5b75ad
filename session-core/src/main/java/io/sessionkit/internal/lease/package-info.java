/**
 * The lease of an open turn, and what it needs to go on. Internal: for SessionKit alone,
 * and changed without notice.
 */
@NullMarked
package io.sessionkit.internal.lease;

import org.jspecify.annotations.NullMarked;
