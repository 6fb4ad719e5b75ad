/**
 * The words of SessionKit.
 */
@NullMarked
package io.sessionkit;

import org.jspecify.annotations.NullMarked;
