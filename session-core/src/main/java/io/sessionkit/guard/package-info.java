/**
 * The guards that are part of SessionKit: stop words and redaction.
 */
@NullMarked
package io.sessionkit.guard;

import org.jspecify.annotations.NullMarked;
