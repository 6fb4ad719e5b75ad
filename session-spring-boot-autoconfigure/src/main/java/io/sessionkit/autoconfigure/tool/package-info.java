/**
 * Tools of the application: their names, and the guard of those that are called without a
 * session.
 */
@NullMarked
package io.sessionkit.autoconfigure.tool;

import org.jspecify.annotations.NullMarked;
