/**
 * What the packages of the auto-configuration share. Internal: for SessionKit alone, and
 * changed without notice.
 */
@NullMarked
package io.sessionkit.autoconfigure.internal;

import org.jspecify.annotations.NullMarked;
