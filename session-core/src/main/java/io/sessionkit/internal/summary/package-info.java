/**
 * Writes summaries. Internal: for SessionKit alone, and changed without notice.
 */
@NullMarked
package io.sessionkit.internal.summary;

import org.jspecify.annotations.NullMarked;
