/**
 * What a call tells its advisors and its readers. Internal: for SessionKit alone, and
 * changed without notice.
 */
@NullMarked
package io.sessionkit.internal.call;

import org.jspecify.annotations.NullMarked;
