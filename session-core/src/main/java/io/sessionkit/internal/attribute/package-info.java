/**
 * Attributes of sessions while a turn runs. Internal: for SessionKit alone, and changed
 * without notice.
 */
@NullMarked
package io.sessionkit.internal.attribute;

import org.jspecify.annotations.NullMarked;
