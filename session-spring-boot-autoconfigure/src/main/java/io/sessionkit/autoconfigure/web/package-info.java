/**
 * What SessionKit adds to web applications.
 */
@NullMarked
package io.sessionkit.autoconfigure.web;

import org.jspecify.annotations.NullMarked;
