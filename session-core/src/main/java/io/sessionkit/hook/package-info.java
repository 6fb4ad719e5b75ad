/**
 * What changes the request that the model sees.
 */
@NullMarked
package io.sessionkit.hook;

import org.jspecify.annotations.NullMarked;
