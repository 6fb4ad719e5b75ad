/**
 * Turns that a server continues by itself once their tool calls are decided.
 */
@NullMarked
package io.sessionkit.continuation;

import org.jspecify.annotations.NullMarked;
