/**
 * Threads of users who are signed in, without a thread of the server for each of them.
 */
@NullMarked
package io.sessionkit.samples.webflux;

import org.jspecify.annotations.NullMarked;
