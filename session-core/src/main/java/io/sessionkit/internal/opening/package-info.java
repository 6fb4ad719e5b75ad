/**
 * Requests for turns, and the place and view from which a turn starts. Internal: for
 * SessionKit alone, and changed without notice.
 */
@NullMarked
package io.sessionkit.internal.opening;

import org.jspecify.annotations.NullMarked;
