/**
 * The store interface, with its parameters and results.
 */
@NullMarked
package io.sessionkit.store;

import org.jspecify.annotations.NullMarked;
