/**
 * The common ground of the advisors and readers of a call: parameters, orders of
 * advisors, threads on which it may wait, and errors that nobody reads. Internal: for
 * SessionKit alone, and changed without notice.
 */
@NullMarked
package io.sessionkit.internal.call;

import org.jspecify.annotations.NullMarked;
