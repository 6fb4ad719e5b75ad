/**
 * The properties of SessionKit. The auto-configuration that follows them is in the
 * packages below.
 */
@NullMarked
package io.sessionkit.autoconfigure;

import org.jspecify.annotations.NullMarked;
