/**
 * Holds tool calls back until they are decided, and runs them at most once. Internal: for
 * SessionKit alone, and changed without notice.
 */
@NullMarked
package io.sessionkit.internal.approval;

import org.jspecify.annotations.NullMarked;
