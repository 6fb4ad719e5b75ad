/**
 * The session store that the properties choose, its codec and its schema.
 */
@NullMarked
package io.sessionkit.autoconfigure.store;

import org.jspecify.annotations.NullMarked;
