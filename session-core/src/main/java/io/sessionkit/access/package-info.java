/**
 * The caller, and the check at each door to sessions: it decides which of them the
 * running code reaches.
 */
@NullMarked
package io.sessionkit.access;

import org.jspecify.annotations.NullMarked;
