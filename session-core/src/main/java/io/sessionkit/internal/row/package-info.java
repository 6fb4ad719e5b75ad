/**
 * Rows shared by stores that keep header, turns, items and records apart: their stored
 * form, and how they are read back. Internal: for SessionKit alone, and changed without
 * notice.
 */
@NullMarked
package io.sessionkit.internal.row;

import org.jspecify.annotations.NullMarked;
