/**
 * Refuses properties and versions with which the application would do something else than
 * its configuration says. Internal: for SessionKit alone, and changed without notice.
 */
@NullMarked
package io.sessionkit.autoconfigure.check;

import org.jspecify.annotations.NullMarked;
