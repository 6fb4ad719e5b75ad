/**
 * Opens parts of the objects that applications hold to SessionKit's other packages. The
 * only internal package that the auto-configuration may use. Internal: for SessionKit
 * alone, and changed without notice.
 */
@NullMarked
package io.sessionkit.internal.door;

import org.jspecify.annotations.NullMarked;
