/**
 * Taking the effects of tool calls back: what takes which effect back, plans of a rewind,
 * and reports on one.
 */
@NullMarked
package io.sessionkit.compensation;

import org.jspecify.annotations.NullMarked;
