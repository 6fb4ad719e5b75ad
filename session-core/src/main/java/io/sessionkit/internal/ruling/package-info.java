/**
 * Rules on tool calls: allowed, to be decided by a person, or denied. Internal: for
 * SessionKit alone, and changed without notice.
 */
@NullMarked
package io.sessionkit.internal.ruling;

import org.jspecify.annotations.NullMarked;
