/**
 * The common ground of the advisors and readers of a call: parameters, orders of
 * advisors, and threads on which it may wait. Internal: for SessionKit alone, and changed
 * without notice.
 */
@NullMarked
package io.sessionkit.internal.call;

import org.jspecify.annotations.NullMarked;
