/**
 * Stores turns and their parts: as history, beside it, or with a reply that is held back.
 * Internal: for SessionKit alone, and changed without notice.
 */
@NullMarked
package io.sessionkit.internal.commit;

import org.jspecify.annotations.NullMarked;
