/**
 * Guards that ship: stop words and redaction.
 */
@NullMarked
package io.sessionkit.guard;

import org.jspecify.annotations.NullMarked;
