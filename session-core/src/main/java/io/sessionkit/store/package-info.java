/**
 * Where sessions are kept: the store interface and the in-memory store.
 */
@NullMarked
package io.sessionkit.store;

import org.jspecify.annotations.NullMarked;
