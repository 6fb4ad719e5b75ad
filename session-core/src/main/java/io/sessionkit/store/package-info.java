/**
 * The store interface, and what it takes and returns.
 */
@NullMarked
package io.sessionkit.store;

import org.jspecify.annotations.NullMarked;
