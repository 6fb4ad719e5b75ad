/**
 * The interfaces that applications implement to check and change a turn, and to listen to
 * it. Nothing here touches a store.
 */
@NullMarked
package io.sessionkit.hook;

import org.jspecify.annotations.NullMarked;
