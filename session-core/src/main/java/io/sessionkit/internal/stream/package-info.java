/**
 * Streams of events that are kept for a while, so that readers can come back.
 */
@NullMarked
package io.sessionkit.internal.stream;

import org.jspecify.annotations.NullMarked;
