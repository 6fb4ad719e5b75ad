/**
 * The stored form of messages and values.
 */
@NullMarked
package io.sessionkit.codec;

import org.jspecify.annotations.NullMarked;
