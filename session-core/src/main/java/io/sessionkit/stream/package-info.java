/**
 * Calls that belong to the server, not to a request: their events, streams that others
 * read, resume and stop, and turns that the server continues by itself.
 */
@NullMarked
package io.sessionkit.stream;

import org.jspecify.annotations.NullMarked;
