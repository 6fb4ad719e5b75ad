/**
 * The line in which the calls on one session stand: who works, and who waits.
 */
@NullMarked
package io.sessionkit.internal.line;

import org.jspecify.annotations.NullMarked;
