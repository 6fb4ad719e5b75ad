/**
 * Sessions for {@code ChatClient} calls.
 */
@NullMarked
package io.sessionkit.advisor;

import org.jspecify.annotations.NullMarked;
