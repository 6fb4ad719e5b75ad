/**
 * Events of calls, and streams of them that others can read, resume and stop.
 */
@NullMarked
package io.sessionkit.stream;

import org.jspecify.annotations.NullMarked;
