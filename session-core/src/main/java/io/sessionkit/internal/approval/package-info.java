/**
 * Holds tool calls back until they are decided, runs them at most once, and keeps the
 * ledger. Internal: for SessionKit alone, and changed without notice.
 */
@NullMarked
package io.sessionkit.internal.approval;

import org.jspecify.annotations.NullMarked;
