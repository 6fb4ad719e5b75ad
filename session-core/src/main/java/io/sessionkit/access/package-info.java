/**
 * Whose sessions the running code may reach: the caller, and the check at each door by
 * which applications come to sessions.
 */
@NullMarked
package io.sessionkit.access;

import org.jspecify.annotations.NullMarked;
