/**
 * What checks and changes what the model sees, what it says and what is kept, and who
 * listens. Nothing here touches a store.
 */
@NullMarked
package io.sessionkit.hook;

import org.jspecify.annotations.NullMarked;
