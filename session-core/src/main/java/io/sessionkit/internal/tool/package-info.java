/**
 * Reads tools and the arguments of their calls, and checks names of tools. Internal: for
 * SessionKit alone, and changed without notice.
 */
@NullMarked
package io.sessionkit.internal.tool;

import org.jspecify.annotations.NullMarked;
