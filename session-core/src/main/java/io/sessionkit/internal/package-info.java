/**
 * Foundations of all other packages: rules for names, invisible characters, and threads
 * that must not be interrupted. Internal: for SessionKit alone, and changed without
 * notice.
 */
@NullMarked
package io.sessionkit.internal;

import org.jspecify.annotations.NullMarked;
