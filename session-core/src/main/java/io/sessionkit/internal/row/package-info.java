/**
 * What stores have in common that keep header, turns, items and records apart: how these
 * look at rest, and how they are read back. Internal: for SessionKit alone, and changed
 * without notice.
 */
@NullMarked
package io.sessionkit.internal.row;

import org.jspecify.annotations.NullMarked;
