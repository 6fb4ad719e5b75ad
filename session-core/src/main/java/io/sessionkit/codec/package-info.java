/**
 * How messages and values look at rest.
 */
@NullMarked
package io.sessionkit.codec;

import org.jspecify.annotations.NullMarked;
