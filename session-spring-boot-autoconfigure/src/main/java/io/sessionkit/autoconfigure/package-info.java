/**
 * Chooses a session store from the application's properties and puts the session advisor
 * on every {@code ChatClient}.
 */
@NullMarked
package io.sessionkit.autoconfigure;

import org.jspecify.annotations.NullMarked;
