/**
 * Foundations that every other package stands on: rules for names, characters that nobody
 * sees, threads that must not be interrupted. Internal: for SessionKit alone, and changed
 * without notice.
 */
@NullMarked
package io.sessionkit.internal;

import org.jspecify.annotations.NullMarked;
