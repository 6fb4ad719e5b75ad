/**
 * Finds the effects of the history, and runs the calls that take them back. Internal: for
 * SessionKit alone, and changed without notice.
 */
@NullMarked
package io.sessionkit.internal.compensation;

import org.jspecify.annotations.NullMarked;
