/**
 * Runs tools within their time limits, and knows the call that a tool runs for. Internal:
 * for SessionKit alone, and changed without notice.
 */
@NullMarked
package io.sessionkit.internal.run;

import org.jspecify.annotations.NullMarked;
