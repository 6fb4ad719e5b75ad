/**
 * Auto-configuration that chooses a session store from the application's properties and
 * adds the session advisor to every {@code ChatClient} that is built from the
 * auto-configured builder.
 */
@NullMarked
package io.sessionkit.autoconfigure;

import org.jspecify.annotations.NullMarked;
