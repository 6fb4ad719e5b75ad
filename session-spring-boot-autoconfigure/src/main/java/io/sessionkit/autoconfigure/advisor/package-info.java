/**
 * The advisor, and the beans for sessions, approvals and continuations.
 */
@NullMarked
package io.sessionkit.autoconfigure.advisor;

import org.jspecify.annotations.NullMarked;
