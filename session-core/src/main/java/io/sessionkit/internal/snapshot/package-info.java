/**
 * Records what the model was shown in a turn, and reads it back. Internal: for SessionKit
 * alone, and changed without notice.
 */
@NullMarked
package io.sessionkit.internal.snapshot;

import org.jspecify.annotations.NullMarked;
