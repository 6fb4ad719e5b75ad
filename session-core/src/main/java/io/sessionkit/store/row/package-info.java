/**
 * What stores have in common that keep header, turns, items and records apart: how these
 * look at rest, and how they are read back. For stores, not for applications.
 */
@NullMarked
package io.sessionkit.store.row;

import org.jspecify.annotations.NullMarked;
