/**
 * The handle for one session, and the turns that run on it.
 */
@NullMarked
package io.sessionkit.conversation;

import org.jspecify.annotations.NullMarked;
