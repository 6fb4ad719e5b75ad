/**
 * The access of callers to sessions.
 */
@NullMarked
package io.sessionkit.autoconfigure.access;

import org.jspecify.annotations.NullMarked;
