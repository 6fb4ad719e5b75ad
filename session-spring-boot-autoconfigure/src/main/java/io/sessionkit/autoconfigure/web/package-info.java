/**
 * Answers to HTTP requests that end in an exception of SessionKit.
 */
@NullMarked
package io.sessionkit.autoconfigure.web;

import org.jspecify.annotations.NullMarked;
