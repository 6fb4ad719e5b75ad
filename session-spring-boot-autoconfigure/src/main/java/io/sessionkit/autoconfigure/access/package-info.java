/**
 * Who reaches which sessions.
 */
@NullMarked
package io.sessionkit.autoconfigure.access;

import org.jspecify.annotations.NullMarked;
