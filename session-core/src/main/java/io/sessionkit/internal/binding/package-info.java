/**
 * The turn that runs on a thread, and the caller for whom the code there works. Internal: for
 * SessionKit alone, and changed without notice.
 */
@NullMarked
package io.sessionkit.internal.binding;

import org.jspecify.annotations.NullMarked;
