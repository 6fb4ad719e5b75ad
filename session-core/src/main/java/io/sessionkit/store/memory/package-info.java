/**
 * Sessions that are held as a whole: the in-memory store, and {@link SessionDocument} for
 * stores that keep a session as one text.
 */
@NullMarked
package io.sessionkit.store.memory;

import org.jspecify.annotations.NullMarked;
