/**
 * Reads, compares and checks the arguments of tool calls. Internal: for SessionKit alone,
 * and changed without notice.
 */
@NullMarked
package io.sessionkit.internal.argument;

import org.jspecify.annotations.NullMarked;
