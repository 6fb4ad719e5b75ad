/**
 * The store interface, with its parameters, results and exceptions.
 */
@NullMarked
package io.sessionkit.store;

import org.jspecify.annotations.NullMarked;
