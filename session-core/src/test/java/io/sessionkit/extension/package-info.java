/**
 * A guard, merges, a hook, a codec and a store that know no more than the documentation
 * says. They pass what those pass that ship.
 */
@NullMarked
package io.sessionkit.extension;

import org.jspecify.annotations.NullMarked;
